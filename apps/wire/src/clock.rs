//! The time of day.

use std::time::SystemTime;

use time::OffsetDateTime;

/// Returns the time in the format of RFC 3339.
pub(crate) fn now() -> String {
    let now = OffsetDateTime::from(SystemTime::now());
    let (month, (hour, minute, second, millisecond)) = (u8::from(now.month()), now.to_hms_milli());
    let date = format!("{:04}-{month:02}-{:02}", now.year(), now.day());
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
}
