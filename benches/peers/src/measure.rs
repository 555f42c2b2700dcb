//! Times of all contenders of a case, which take turns, round after round. What counts is the thread's own processor
//! time: the machine may have other work.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::{Case, Contender};

/// The number and the length of the turns of a contender.
#[derive(Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    /// The time slice of a contender in a round.
    pub turn: Duration,
}

impl Effort {
    pub const FULL: Self = Self {
        rounds: 21,
        turn: Duration::from_millis(4),
    };
    pub const SHORT: Self = Self {
        rounds: 5,
        turn: Duration::from_millis(1),
    };
}

/// The medians of all rounds.
#[derive(Clone, Copy)]
pub struct Time {
    /// In nanoseconds a unit.
    pub time: f64,
    /// Ours divided by this one, within each round, because other work on the machine slows whole rounds down.
    pub ratio: f64,
}

/// The function in which callgrind counts.
#[inline(never)]
pub fn repeat(contender: &mut Contender, times: usize) {
    for _ in 0..times {
        black_box((contender.run)());
    }
}

/// Returns the times of all contenders.
pub fn times(case: &mut Case, effort: Effort) -> Vec<Time> {
    let repeats: Vec<usize> = case
        .contenders
        .iter_mut()
        .map(|contender| {
            repeat(contender, 1);
            let start = ThreadTime::now();
            repeat(contender, 1);
            let once = start.elapsed().max(Duration::from_nanos(100));
            (effort.turn.as_nanos() / once.as_nanos()).clamp(1, 1_000_000) as usize
        })
        .collect();
    let mut times = vec![Vec::new(); repeats.len()];
    for _ in 0..effort.rounds {
        let contenders = case.contenders.iter_mut().zip(&repeats);
        for ((contender, repeats), times) in contenders.zip(&mut times) {
            let start = ThreadTime::now();
            repeat(contender, *repeats);
            times.push(start.elapsed().as_nanos() as f64 / (repeats * case.units) as f64);
        }
    }
    let ours = times[0].clone();
    let medians = times.iter().map(|own| Time {
        time: median(own.iter().copied()),
        ratio: median(ours.iter().zip(own).map(|(ours, this)| ours / this)),
    });
    medians.collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
