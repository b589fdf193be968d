//! Tests of ingrep, through what it makes public.
