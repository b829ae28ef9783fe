//! warm-up DIR makes everything of the plan, with the sources DIR/0, DIR/1 … in the
//! order of the plan's libraries, and prints what it made.

#![deny(warnings)]

mod warm_up;

use objc2_metal::{MTLComputePipelineState, MTLCreateSystemDefaultDevice, MTLLibrary};
use warm_up::{Source, WarmUp, LIBRARIES, PIPELINES};

fn main() {
    let dir = std::path::PathBuf::from(std::env::args_os().nth(1).expect("a folder of sources"));
    let device = MTLCreateSystemDefaultDevice().expect("a device");
    let warm_up = WarmUp::begin(&device, |label| {
        let i = LIBRARIES.iter().position(|l| *l == label)?;
        let text = std::fs::read_to_string(dir.join(i.to_string())).ok()?;
        Some(Source { text, options: None })
    });
    for label in LIBRARIES {
        match warm_up.library(label).expect("it is in the plan") {
            Ok(library) => println!("{}", library.label().expect("a label")),
            Err(text) => println!("{text}"),
        }
    }
    for p in PIPELINES {
        match warm_up.pipeline(p.library, p.function, p.constants).expect("it is in the plan") {
            Ok(made) => println!("{} {} {}", p.library, p.function, made.threadExecutionWidth()),
            Err(text) => println!("{text}"),
        }
    }
    match warm_up.wait() {
        Ok(()) => println!("ok"),
        Err(text) => println!("first: {text}"),
    }
}
