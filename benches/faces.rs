//! How long a call takes, one bench per face, so that later work has a base line.
//!
//! All run on the same generated tree of 2,000 files with the default pool, in a warm cache:
//! `list` is the walk alone, `search` a literal in all files, `first` the first 50 matches of a
//! frequent word, `rg` what ripgrep's command line takes for all lines with that word in some of the
//! files, `slice` and `file` one haystack of 64 KiB, and `compile` the cost of a pattern with a
//! Unicode class, which exceeds that of searching a small tree.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ingrep::rg::Command;
use ingrep::{CancelToken, Limits, Query, Scope, SortBy};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

const DIRS: usize = 100;
const FILES_PER_DIR: usize = 20;

fn text(lines: usize, seed: usize) -> String {
    (0..lines).fold(String::new(), |mut text, line| {
        let value = (line + seed).wrapping_mul(2_654_435_761) % 1_000_003;
        writeln!(text, "let value_{value} = compute({line}); // step {seed}").expect("a string");
        text
    })
}

fn make_tree(root: &Path) {
    for dir in 0..DIRS {
        let path = root.join(format!("dir{dir}"));
        std::fs::create_dir(&path).expect("a fresh directory");
        for file in 0..FILES_PER_DIR {
            let extension = if file % 4 == 0 { "rs" } else { "txt" };
            let name = path.join(format!("file{file}.{extension}"));
            std::fs::write(name, text(40, dir * FILES_PER_DIR + file)).expect("a fresh file");
        }
    }
}

fn faces(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a place for the tree");
    make_tree(dir.path());
    let token = CancelToken::new();
    let files = (DIRS * FILES_PER_DIR) as u64;

    let mut group = criterion.benchmark_group("tree");
    group.throughput(Throughput::Elements(files)).sample_size(30);
    let scope = Scope::new(dir.path());
    group.bench_function("list", |b| b.iter(|| scope.files(&token).expect("a root").count()));
    let by_path = scope.clone().glob("*.rs").sort(SortBy::Path, Default::default());
    group.bench_function("list one extension by path", |b| {
        b.iter(|| by_path.files(&token).expect("a root").count())
    });
    let search = Query::new("value_12345 ").scope(scope.clone()).compile().expect("a pattern");
    group.bench_function("search", |b| b.iter(|| search.collect(&token).expect("a root")));
    let first = Query::new("compute")
        .scope(scope)
        .limits(Limits::new().max_lines(50).stop_early(true))
        .compile()
        .expect("a pattern");
    group.bench_function("first", |b| b.iter(|| first.collect(&token).expect("a root")));
    for (name, argv) in [
        ("rg --json", &["--json", "compute", "-g*.rs"][..]),
        ("rg -nH", &["-nH", "compute", "-g*.rs"]),
        ("rg -c", &["-c", "compute", "-g*.rs"]),
    ] {
        let command = Command::new(dir.path()).args(argv);
        group.bench_function(name, |b| b.iter(|| command.output(&token).expect("no fault")));
    }
    group.finish();

    let haystack = text(1_200, 7);
    let file = dir.path().join("one.txt");
    std::fs::write(&file, &haystack).expect("a fresh file");
    let one = Query::new("value_99 ").compile().expect("a pattern");
    let mut group = criterion.benchmark_group("one haystack");
    group.throughput(Throughput::Bytes(haystack.len() as u64));
    group.bench_function("slice", |b| {
        b.iter(|| one.search_slice("x", black_box(haystack.as_bytes())).expect("a search"))
    });
    group.bench_function("file", |b| b.iter(|| one.search_file(&file).expect("a file")));
    group.finish();

    criterion.bench_function("compile", |b| {
        b.iter(|| Query::new(black_box(r"\w+_builder")).compile().expect("a pattern"))
    });
}

criterion_group!(benches, faces);
criterion_main!(benches);
