//! A scope's filters, compiled.

use super::roots::walked_name;
use crate::error::{Error, ErrorCode, Result};
use crate::scope::{Scope, TypeChange};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use std::path::{Path, PathBuf};

/// A scope's filters, compiled.
#[derive(Clone, Debug)]
pub(super) struct Filters {
    pub(super) scope: Scope,
    pub(super) overrides: Override,
    pub(super) types: Types,
}

impl Filters {
    pub(super) fn new(scope: &Scope) -> Result<Filters> {
        // In this order ripgrep finds fault with them.
        let types = match scope.types.is_empty() {
            // To build what nobody asks about takes as long as walking a hundred files.
            true => Types::empty(),
            false => types(scope)?,
        };
        Ok(Filters { overrides: overrides(scope)?, types, scope: scope.clone() })
    }

    /// The base as roots below it begin: a slash at its end would be one that they lack.
    pub(super) fn base(&self) -> PathBuf {
        self.scope.base.as_deref().map(walked_name).unwrap_or_default()
    }

    /// No name is not the name of the base.
    pub(super) fn locate_rules(&self, file: &Path) -> PathBuf {
        match file.as_os_str().is_empty() {
            true => PathBuf::new(),
            false => self.scope.locate(file),
        }
    }
}

fn overrides(scope: &Scope) -> Result<Override> {
    let limits = &scope.limits;
    let refused =
        |message: String, hint| Err(Error::new(ErrorCode::InvalidGlob, message).with_hint(hint));
    if scope.globs.len() > limits.max_globs {
        let (globs, max) = (scope.globs.len(), limits.max_globs);
        let message = format!("{globs} globs are over max_globs ({max})");
        return refused(message, "join some of them with `{a,b}`");
    }
    let bytes: usize = scope.globs.iter().map(|glob| glob.glob.len()).sum();
    if bytes > limits.max_glob_list_bytes {
        let max = limits.max_glob_list_bytes;
        let message = format!("globs of {bytes} bytes are over max_glob_list_bytes ({max})");
        return refused(message, "use fewer globs");
    }
    let base = scope.glob_base.as_ref().map(|dir| scope.locate(dir)).or(scope.base.clone());
    let base = base.map(|dir| walked_name(&dir)).unwrap_or_default();
    let mut builder = OverrideBuilder::new(base);
    for glob in &scope.globs {
        let (bytes, max) = (glob.glob.len(), limits.max_glob_bytes);
        if bytes > max {
            let message = format!("a glob of {bytes} bytes is over max_glob_bytes ({max})");
            return refused(message, "use a shorter glob");
        }
        builder
            .case_insensitive(glob.case_insensitive)
            .and_then(|builder| builder.add(&glob.glob))
            .map_err(|error| invalid_glob(&error))?;
    }
    builder.build().map_err(|error| invalid_glob(&error))
}

fn invalid_glob(error: &ignore::Error) -> Error {
    let message = error.to_string();
    if !message.starts_with("error parsing glob") {
        return Error::new(ErrorCode::InvalidGlob, message).with_hint("use fewer or shorter globs");
    }
    Error::new(ErrorCode::InvalidGlob, message).with_hint(
        "a literal `[`, `{`, `*` or `?` is written with a `\\` before it, or in brackets: `[[]`",
    )
}

fn types(scope: &Scope) -> Result<Types> {
    let limits = &scope.limits;
    let refused = |message: String, hint| {
        Err(Error::new(ErrorCode::InvalidTypeDefinition, message).with_hint(hint))
    };
    let changes = scope.types.len();
    if changes > limits.max_globs {
        let max = limits.max_globs;
        let message = format!("{changes} changes to file types are over max_globs ({max})");
        return refused(message, "use globs");
    }
    let definition_bytes = |change: &TypeChange| match change {
        TypeChange::Add(definition) => definition.len(),
        _ => 0,
    };
    let bytes: usize = scope.types.iter().map(definition_bytes).sum();
    if bytes > limits.max_glob_list_bytes {
        let max = limits.max_glob_list_bytes;
        let message = format!("definitions of {bytes} bytes are over max_glob_list_bytes ({max})");
        return refused(message, "use globs");
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for change in &scope.types {
        match change {
            TypeChange::Add(definition) if definition.len() > limits.max_glob_bytes => {
                let (bytes, max) = (definition.len(), limits.max_glob_bytes);
                let message =
                    format!("a definition of {bytes} bytes is over max_glob_bytes ({max})");
                return refused(message, "use several definitions");
            }
            TypeChange::Add(definition) => builder.add_def(definition).map_err(|error| {
                Error::new(ErrorCode::InvalidTypeDefinition, error.to_string())
                    .with_hint("write `name:*.ext`, or `name:include:other,other`")
            })?,
            TypeChange::Clear(name) => _ = builder.clear(name),
            TypeChange::Select(name) => _ = builder.select(name),
            TypeChange::Negate(name) => _ = builder.negate(name),
        }
    }
    builder.build().map_err(|error| match error {
        ignore::Error::UnrecognizedFileType(_) => {
            Error::new(ErrorCode::UnknownType, error.to_string())
                .with_hint("define it as `name:*.ext`, or use a glob")
        }
        error => invalid_glob(&error),
    })
}

pub(super) fn type_definitions(scope: &Scope) -> Result<Vec<(String, Vec<String>)>> {
    let types = types(scope)?;
    let definition = |d: &ignore::types::FileTypeDef| (d.name().to_string(), d.globs().to_vec());
    Ok(types.definitions().iter().map(definition).collect())
}
