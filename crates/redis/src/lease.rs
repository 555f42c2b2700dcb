//! The lease of a process: while it lasts, the process and the replies that it writes count as alive.

use std::time::Duration;

use redis::Value;

use crate::connection::Connection;
use crate::fault::Fault;
use crate::names::Names;
use crate::notifications::Notifications;

/// The time for which a lease lasts.
const LEASE: Duration = Duration::from_secs(8);
/// The time between two renewals.
const RENEWAL: Duration = Duration::from_secs(2);
/// The time between a failed attempt and the next attempt.
const RETRY: Duration = Duration::from_millis(250);

/// The content of a lease whose process no longer writes replies.
pub(crate) const GIVEN_UP: &str = "ended";

/// Renews the lease until the future is dropped, which gives it up.
pub(crate) async fn run(connection: &Connection, names: &Names, notifications: &Notifications) {
    let _lease = Lease(connection, names);
    loop {
        let renewed = renew(connection, names, notifications).await;
        tokio::time::sleep(if renewed.is_ok() { RENEWAL } else { RETRY }).await;
    }
}

/// A lease that is given up at the end of the store or of its runtime.
struct Lease<'a>(&'a Connection, &'a Names);

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut give_up = redis::cmd("SET");
        give_up.arg(self.1.lease(self.1.process())).arg(GIVEN_UP);
        give_up.arg("PX").arg(LEASE.as_millis() as u64);
        self.0.send_blocking(give_up);
    }
}

/// Renews the lease, and searches for cancelled replies of this process whose messages may have been lost.
pub(crate) async fn renew(
    connection: &Connection,
    names: &Names,
    notifications: &Notifications,
) -> Result<(), Fault> {
    let (lease, milliseconds) = (names.lease(names.process()), LEASE.as_millis() as u64);
    // Unlike SET, this works while Redis is full.
    let mut extend = redis::cmd("PEXPIRE");
    extend.arg(&lease).arg(milliseconds);
    if connection.command(&extend).await? != Value::Int(1) {
        let mut create = redis::cmd("SET");
        create.arg(&lease).arg("").arg("PX").arg(milliseconds);
        connection.command(&create).await?;
    }
    let (runs, turns) = notifications.to_search(connection.is_cluster());
    let marks = runs.iter().map(|run| {
        let mut mark = redis::cmd("EXISTS");
        mark.arg(names.cancelled(run));
        mark
    });
    // The lease is renewed even if the servers of the marks do not answer.
    if let Ok(marks) = connection.each(marks.collect()).await {
        for (run, mark) in runs.iter().zip(marks) {
            if mark == Value::Int(1) {
                notifications.cancel(run);
            }
        }
        notifications.searched(turns);
    }
    Ok(())
}
