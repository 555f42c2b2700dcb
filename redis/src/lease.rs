//! The lease of a process: while it lasts, the process is alive, and so are the replies that it writes.

use std::time::Duration;

use redis::Value;

use crate::connection::{Connection, Fault};
use crate::names::Names;
use crate::notifications::Notifications;

/// The time for which a lease lasts.
const LEASE: Duration = Duration::from_secs(8);
/// The time between two renewals.
const RENEWAL: Duration = Duration::from_secs(2);
/// The time until the next attempt after one that failed.
const RETRY: Duration = Duration::from_millis(250);

/// Renews the lease. Never returns.
pub(crate) async fn run(connection: &Connection, names: &Names, notifications: &Notifications) {
    loop {
        let renewed = renew(connection, names, notifications).await;
        tokio::time::sleep(if renewed.is_ok() { RENEWAL } else { RETRY }).await;
    }
}

/// Renews the lease, and looks which of the replies that run here are cancelled: the message that said so
/// may have been lost.
pub(crate) async fn renew(
    connection: &Connection,
    names: &Names,
    notifications: &Notifications,
) -> Result<(), Fault> {
    let runs = notifications.runs();
    let mut commands = redis::pipe();
    // Unlike SET, this works while Redis is full.
    let milliseconds = LEASE.as_millis() as u64;
    commands.cmd("PEXPIRE").arg(names.lease()).arg(milliseconds);
    for run in &runs {
        commands.cmd("EXISTS").arg(names.cancelled(run));
    }
    let answers = connection.pipeline(&commands).await?;
    if answers.first() != Some(&Value::Int(1)) {
        let mut create = redis::pipe();
        let set = create.cmd("SET").arg(names.lease()).arg("");
        set.arg("PX").arg(milliseconds);
        connection.pipeline(&create).await?;
    }
    for (run, answer) in runs.iter().zip(answers.into_iter().skip(1)) {
        if answer == Value::Int(1) {
            notifications.cancel(run);
        }
    }
    Ok(())
}
