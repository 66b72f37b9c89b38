/// Where payload bytes come from: the file on disk, or memory. Asked for one line at a time, when somebody looks.
pub trait Payload {
    /// `len` bytes at `offset` of the segment; `None` if they cannot be read any more.
    fn read(&self, segment: u16, offset: u64, len: u32) -> Option<Vec<u8>>;
}

impl Payload for [u8] {
    fn read(&self, segment: u16, offset: u64, len: u32) -> Option<Vec<u8>> {
        let start = usize::try_from(offset).ok().filter(|_| segment == 0)?;
        self.get(start..start.checked_add(len as usize)?).map(<[u8]>::to_vec)
    }
}

impl Payload for &[u8] {
    fn read(&self, segment: u16, offset: u64, len: u32) -> Option<Vec<u8>> {
        (**self).read(segment, offset, len)
    }
}

impl Payload for Vec<u8> {
    fn read(&self, segment: u16, offset: u64, len: u32) -> Option<Vec<u8>> {
        self.as_slice().read(segment, offset, len)
    }
}
