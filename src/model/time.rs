use jiff::{Timestamp, tz::TimeZone};

/// A moment in Unix milliseconds. Time always enters as a value: no pure room reads a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Millis(pub i64);

impl Millis {
    /// The transcript did not say.
    pub const NONE: Self = Self(i64::MIN);

    /// The value, if the transcript said one.
    pub fn known(self) -> Option<i64> {
        (self != Self::NONE).then_some(self.0)
    }

    /// Seconds from `self` until `now`, never negative; `None` if unknown.
    pub fn age_s(self, now: Self) -> Option<i64> {
        Some((now.known()? - self.known()?).max(0) / 1000)
    }
}

/// Parses an RFC 3339 time; anything else is [`Millis::NONE`], because a strange time never costs a record.
pub fn parse_rfc3339(text: &str) -> Millis {
    text.parse::<Timestamp>().map_or(Millis::NONE, |t| Millis(t.as_millisecond()))
}

/// RFC 3339 in UTC with milliseconds, as in the machine contract.
pub fn rfc3339(time: Millis) -> Option<String> {
    let stamp = Timestamp::from_millisecond(time.known()?).ok()?;
    Some(format!("{stamp:.3}"))
}

/// `14:03:02` in `zone`.
pub fn clock(time: Millis, zone: &TimeZone) -> Option<String> {
    let stamp = Timestamp::from_millisecond(time.known()?).ok()?;
    Some(stamp.to_zoned_datetime(zone.clone()).strftime("%H:%M:%S").to_string())
}

/// `2026/11/30` and `2026-11-30T14-03-02` in `zone`: names of folders and files that runtimes sort by.
pub fn local_stamp(time: Millis, zone: &TimeZone) -> Option<(String, String)> {
    let stamp = Timestamp::from_millisecond(time.known()?).ok()?.to_zoned_datetime(zone.clone());
    Some((stamp.strftime("%Y/%m/%d").to_string(), stamp.strftime("%Y-%m-%dT%H-%M-%S").to_string()))
}

/// A length of time for people: `4s`, `4m12s`, `31m41s`, `2h05m`, `3d04h`.
pub fn age(seconds: i64) -> String {
    let s = seconds.max(0);
    match s {
        0..60 => format!("{s}s"),
        60..3600 => format!("{}m{:02}s", s / 60, s % 60),
        3600..86_400 => format!("{}h{:02}m", s / 3600, s % 3600 / 60),
        _ => format!("{}d{:02}h", s / 86_400, s % 86_400 / 3600),
    }
}
