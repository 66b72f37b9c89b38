use rustc_hash::FxHashMap;

/// A string of the transcript that is compared often (ids, tool names, lanes), stored once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(u32);

impl Sym {
    /// Dense index, in order of first appearance.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Gives each distinct string a dense number; never forgets one.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    ids: FxHashMap<Box<str>, Sym>,
    names: Vec<Box<str>>,
}

impl Interner {
    /// The symbol of `text`, new if it was not seen before.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.ids.get(text) {
            return *sym;
        }
        let sym = Sym(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(text.into());
        self.ids.insert(text.into(), sym);
        sym
    }

    /// The symbol of `text` if it was ever interned.
    pub fn find(&self, text: &str) -> Option<Sym> {
        self.ids.get(text).copied()
    }

    /// The string behind `sym`; empty for a symbol of another interner.
    pub fn name(&self, sym: Sym) -> &str {
        self.names.get(sym.index()).map_or("", |name| name)
    }

    /// How many distinct strings are held.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if nothing was interned yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
