//! Streams that wait: what each costs the server, and that nothing of them is left.

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use server_tests::{Client, say};

use crate::served::Served;

/// The most memory that a waiting stream may take, without optimization.
const MOST: usize = 32 * 1024;

/// Opens `count` streams at once, leaves them alone for `time`, and closes them.
pub(crate) fn idle(count: usize, time: Duration) -> Result<(), Box<dyn Error>> {
    let mut server = Served::start("hyper")?;
    // The first ones make the server allocate what it needs whatever their number.
    let mut clients = open(&server, count / 100)?;
    let before = server.memory();
    let start = Instant::now();
    clients.extend(open(&server, count)?);
    let opened = start.elapsed();
    let each = server.memory().saturating_sub(before) / count;
    let (sockets, descriptors) = (server_tests::open(server.address), server.descriptors()?);
    let spent = server.spent()?;
    std::thread::sleep(time);
    let spent = server.spent()?.saturating_sub(spent);
    println!(
        "{sockets} streams, opened in {opened:.1?}: {each} bytes and {:.2} descriptors each, \
         {spent:.1?} of processor time in {time:.0?}",
        descriptors as f64 / sockets as f64
    );
    drop(clients);
    let start = Instant::now();
    while server.left()? != (0, 0) {
        if start.elapsed() > Duration::from_secs(60) {
            return Err(format!("{:?} agents and sockets are left", server.left()?).into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("all closed after {:.1?}", start.elapsed());
    let said = server.stop()?;
    if each > MOST || sockets < count || !said.is_empty() {
        return Err(format!("too large, too few, or a complaint: {said}").into());
    }
    Ok(())
}

fn open(server: &Served, count: usize) -> Result<Vec<Client>, Box<dyn Error>> {
    let one = || {
        let mut client = Client::connect(server.address)?;
        client.post("/v1/query", say("silence"))?;
        match client.head()?.status {
            200 => Ok(client),
            status => Err(format!("status {status}").into()),
        }
    };
    (0..count).map(|_| one()).collect()
}

impl Served {
    /// Returns the number of open files of the server.
    fn descriptors(&self) -> std::io::Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.id()))?.count())
    }

    /// The processor time of the server, to a hundredth of a second.
    fn spent(&self) -> Result<Duration, Box<dyn Error>> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id()))?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no process")?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: Result<Vec<u64>, _> = ticks.map(str::parse).collect();
        Ok(Duration::from_millis(10 * ticks?.iter().sum::<u64>()))
    }
}
