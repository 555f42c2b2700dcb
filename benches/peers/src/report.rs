//! Tables in Markdown. A row is judged by its worst size.

use std::fmt;
use std::io::{self, Write};

use crate::measure::{Effort, Time};
use crate::{Case, Kind, Row};

/// The measurements of a row, of one run or more.
pub struct Measured {
    name: String,
    title: String,
    unit: &'static str,
    sizes: Vec<String>,
    goals: Vec<(&'static str, f64)>,
    /// Ours first.
    contenders: Vec<Line>,
}

/// A contender in all sizes.
struct Line {
    name: &'static str,
    kind: Kind,
    /// By size; empty where it was not measured.
    cells: Vec<Cell>,
}

#[derive(Clone, Default)]
struct Cell {
    time: Range,
    ratio: Range,
}

/// The least and the most of all runs.
#[derive(Clone, Copy)]
struct Range {
    from: f64,
    to: f64,
}

impl Default for Range {
    fn default() -> Self {
        Self {
            from: f64::INFINITY,
            to: 0.0,
        }
    }
}

impl Range {
    fn add(&mut self, value: f64) {
        self.from = self.from.min(value);
        self.to = self.to.max(value);
    }
}

/// Returns a number with two digits that count, or all that it has before the point.
fn digits(value: f64) -> String {
    let decimals = match value {
        ..0.01 => 4,
        ..0.1 => 3,
        ..1.0 => 2,
        ..10.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (digits(self.from), digits(self.to)) {
            (from, to) if from == to => f.write_str(&to),
            (from, to) => write!(f, "{from} to {to}"),
        }
    }
}

/// Returns a time in nanoseconds with groups of three digits.
fn nanoseconds(value: f64) -> String {
    if value < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl Line {
    /// Returns the size in which it is the fastest beside ours, and the ratio there.
    fn worst(&self) -> Option<(usize, Range)> {
        let ratios = self.cells.iter().map(|cell| cell.ratio).enumerate();
        ratios
            .filter(|(_, ratio)| ratio.to > 0.0)
            .max_by(|(_, a), (_, b)| a.to.total_cmp(&b.to))
    }
}

impl Measured {
    pub fn new(row: &Row) -> Self {
        Self {
            name: row.name.clone(),
            title: row.title.clone(),
            unit: row.unit,
            sizes: row.sizes.iter().map(|(name, _)| name.clone()).collect(),
            goals: row.goals.clone(),
            contenders: Vec::new(),
        }
    }

    /// Adds the times of one size in one run.
    pub fn add(&mut self, size: usize, case: &Case, times: &[Time]) {
        for (contender, time) in case.contenders.iter().zip(times) {
            let known = self
                .contenders
                .iter()
                .position(|line| line.name == contender.name);
            let at = known.unwrap_or(self.contenders.len());
            if known.is_none() {
                self.contenders.push(Line {
                    name: contender.name,
                    kind: contender.kind,
                    cells: vec![Cell::default(); self.sizes.len()],
                });
            }
            let cell = &mut self.contenders[at].cells[size];
            cell.time.add(time.time);
            cell.ratio.add(time.ratio);
        }
    }

    /// Returns the peer that is the fastest beside ours in any size, with that size and the ratio there.
    fn worst(&self) -> Option<(&Line, usize, Range)> {
        let peers = self
            .contenders
            .iter()
            .filter(|line| line.kind == Kind::Peer);
        peers
            .filter_map(|line| line.worst().map(|(size, ratio)| (line, size, ratio)))
            .max_by(|(.., a), (.., b)| a.to.total_cmp(&b.to))
    }

    /// Writes the ratios in all sizes, the worst one bold where it is more than `limit`.
    fn sizes(&self, line: &Line, limit: f64) -> String {
        let worst = line.worst().map(|(size, _)| size);
        let cells = line.cells.iter().zip(&self.sizes).enumerate();
        let measured = cells.filter(|(_, (cell, _))| cell.ratio.to > 0.0);
        let sizes = measured.map(|(at, (cell, size))| match Some(at) == worst {
            true if cell.ratio.to > limit => format!("{size}: **{}**", cell.ratio),
            _ => format!("{size}: {}", cell.ratio),
        });
        sizes.collect::<Vec<_>>().join("; ")
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self {
            name, title, unit, ..
        } = self;
        writeln!(out, "\n### `{name}`: {title}\n")?;
        writeln!(
            out,
            "| ns/{unit}, ours / this | {} | worst |",
            self.sizes.join(" | ")
        )?;
        writeln!(out, "|---|{}---:|", "---:|".repeat(self.sizes.len()))?;
        for (at, line) in self.contenders.iter().enumerate() {
            write!(out, "| {} |", line.name)?;
            for cell in &line.cells {
                let time = (cell.time.from + cell.time.to) / 2.0;
                match (cell.ratio.to > 0.0, at) {
                    (false, _) => write!(out, " |")?,
                    (true, 0) => write!(out, " {} |", nanoseconds(time))?,
                    (true, _) => write!(out, " {}, {} |", nanoseconds(time), cell.ratio)?,
                }
            }
            match line.worst().filter(|_| at > 0) {
                Some((_, ratio)) => writeln!(out, " {ratio} |")?,
                None => writeln!(out, " |")?,
            }
        }
        Ok(())
    }
}

/// Writes all tables: first the rows in which a peer is faster, then every row beside its goals, then all times.
pub fn print(
    rows: &[Measured],
    runs: usize,
    effort: Effort,
    out: &mut impl Write,
) -> io::Result<()> {
    let Effort { rounds, turn } = effort;
    writeln!(out, "# Tables\n")?;
    writeln!(
        out,
        "Printed by `benches/peers`; runs: {runs}, rounds: {rounds}, turn of a contender: {} ms.\n",
        turn.as_millis()
    )?;
    writeln!(out, "## Where a peer is faster\n")?;
    writeln!(
        out,
        "The fastest peer of each row in which one is faster in any size; ours / theirs in time.\n"
    )?;
    writeln!(out, "| row | peer | ours / theirs in each size |")?;
    writeln!(out, "|---|---|---|")?;
    for row in rows {
        if let Some((line, ..)) = row.worst().filter(|(.., ratio)| ratio.to > 1.0) {
            let sizes = row.sizes(line, 1.0);
            writeln!(out, "| `{}` | {} | {sizes} |", row.name, line.name)?;
        }
    }
    writeln!(out, "\n## Goals\n")?;
    writeln!(
        out,
        "Every row beside what we aim for, or beside its fastest peer; the worst size is bold where a goal is missed.\n"
    )?;
    writeln!(
        out,
        "| row | contender | ours / theirs in each size | goal |"
    )?;
    writeln!(out, "|---|---|---|---:|")?;
    for row in rows {
        let mut lines: Vec<(&Line, Option<f64>)> = Vec::new();
        for (contender, goal) in &row.goals {
            // A goal may name the beginning of a contender.
            let named = |line: &&Line| line.kind != Kind::Ours && line.name.starts_with(contender);
            lines.extend(
                row.contenders
                    .iter()
                    .find(named)
                    .map(|it| (it, Some(*goal))),
            );
        }
        if row.goals.is_empty() {
            lines.extend(row.worst().map(|(line, ..)| (line, None)));
        }
        for (line, goal) in lines {
            let sizes = row.sizes(line, goal.unwrap_or(f64::INFINITY));
            let goal = goal.map(|goal| goal.to_string()).unwrap_or_default();
            writeln!(out, "| `{}` | {} | {sizes} | {goal} |", row.name, line.name)?;
        }
    }
    writeln!(out, "\n## Every row")?;
    for row in rows {
        row.print(out)?;
    }
    Ok(())
}
