//! Counts what every contender allocates, in a binary of its own: the timed one has the plain allocator.
//!
//! ```sh
//! cargo run --release --bin allocations -- [ROW ...]
//! ```

use allocation_counter::measure;
use peers::rows;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    for row in rows() {
        if !names.is_empty() && !names.iter().any(|name| row.name.starts_with(name.as_str())) {
            continue;
        }
        println!("\n### `{}`: {}\n", row.name, row.title);
        println!(
            "| size | contender | allocations a run | a {} | KiB at most |",
            row.unit
        );
        println!("|---|---|---:|---:|---:|");
        for (size, build) in &row.sizes {
            let mut case = build();
            for contender in &mut case.contenders {
                (contender.run)();
                let seen = measure(|| {
                    (contender.run)();
                });
                println!(
                    "| {size} | {} | {} | {:.4} | {:.1} |",
                    contender.name,
                    seen.count_total,
                    seen.count_total as f64 / case.units as f64,
                    seen.bytes_max as f64 / 1024.0
                );
            }
        }
    }
}
