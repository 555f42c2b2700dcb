//! Counts what every contender allocates, in a binary of its own: the timed one has the plain
//! allocator.
//!
//! ```sh
//! cargo run --release --bin allocations -- [ROW ...]
//! ```

use allocation_counter::measure;
use peers::ROWS;

fn main() {
    let rows: Vec<String> = std::env::args().skip(1).collect();
    for (name, build) in ROWS {
        if !rows.is_empty() && !rows.iter().any(|row| name.starts_with(row.as_str())) {
            continue;
        }
        let mut row = build();
        println!("\n## {name}: {}\n", row.name);
        println!(
            "| contender | allocations a run | a {} | KiB at most |",
            row.unit
        );
        println!("|---|---:|---:|---:|");
        for contender in &mut row.contenders {
            (contender.run)();
            let seen = measure(|| {
                (contender.run)();
            });
            println!(
                "| {} | {} | {:.4} | {:.1} |",
                contender.name,
                seen.count_total,
                seen.count_total as f64 / row.units as f64,
                seen.bytes_max as f64 / 1024.0
            );
        }
    }
}
