//! The results of calls, in the forms of all eras.

mod call_result;
mod entry;
mod format;
mod item;
mod outcome;
mod params;

pub use call_result::CallResult;
pub use entry::{BridgeError, BridgeResult, CommandResult, ErrorResult, Items};
pub use format::DataFormat;
pub use item::ResultItem;
pub use outcome::CallOutcome;
pub use params::{ParamChoice, ParamChoices, ParamOptions};

pub(super) use item::{items_of, media_type};
