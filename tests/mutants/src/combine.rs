//! All mutants of a file in one text: `copilot_wire::mutant(17)` is true while mutant 17 is tried.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use proc_macro2::LineColumn;
use syn::{
    Arm, Expr, ExprBinary, ExprMatch, ExprStruct, ExprUnary,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::list::{Genre, Mutant, Place};

/// A file with all its mutants.
pub struct Combined {
    pub text: String,
    /// Where the code of each mutant is in `text`, and the expression or function that it is a part of.
    pub places: Vec<(usize, Range<usize>, Range<usize>)>,
}

/// Combines the mutants of one file. The numbers are those of `copilot_wire::mutant`. A mutant for which there is no expression
/// of its own is not in the text.
pub fn combine(source: &str, mutants: &[(usize, &Mutant)]) -> syn::Result<Combined> {
    let mut combiner = Combiner {
        source,
        lines: std::iter::once(0)
            .chain(source.match_indices('\n').map(|(at, _)| at + 1))
            .collect(),
        mutants: HashMap::new(),
        edits: Vec::new(),
        enclosing: Vec::new(),
    };
    for (id, mutant) in mutants {
        combiner
            .mutants
            .entry(mutant.span.start)
            .or_default()
            .push((*id, mutant));
        if mutant.genre == Genre::FnValue {
            combiner.replace_value(*id, mutant);
        }
    }
    combiner.visit_file(&syn::parse_file(source)?);
    Ok(combiner.finish())
}

struct Combiner<'a> {
    source: &'a str,
    /// The offset of each line.
    lines: Vec<usize>,
    mutants: HashMap<Place, Vec<(usize, &'a Mutant)>>,
    /// Text that is put before and behind a range.
    edits: Vec<(Range<usize>, String, String)>,
    /// The `match` expressions around the current one.
    enclosing: Vec<Range<usize>>,
}

impl<'a> Combiner<'a> {
    fn offset(&self, place: Place) -> usize {
        let start = self.lines[place.line - 1];
        let line = &self.source[start..];
        start
            + line
                .char_indices()
                .nth(place.column - 1)
                .map_or(line.len(), |(at, _)| at)
    }

    fn range(&self, node: &impl Spanned) -> Range<usize> {
        let span = node.span();
        self.offset(place(span.start()))..self.offset(place(span.end()))
    }

    fn text(&self, node: &impl Spanned) -> &'a str {
        &self.source[self.range(node)]
    }

    /// The mutants of this genre that begin where the node does.
    fn of(&self, node: &impl Spanned, genre: Genre) -> Vec<(usize, &'a Mutant)> {
        let found = self.mutants.get(&place(node.span().start()));
        found
            .into_iter()
            .flatten()
            .filter(|(_, mutant)| mutant.genre == genre)
            .copied()
            .collect()
    }

    fn wrap(&mut self, range: Range<usize>, before: String, behind: String) {
        self.edits.push((range, before, behind));
    }

    /// Marks `around` as what the mutant is a part of.
    fn mark(&mut self, id: usize, around: Range<usize>) {
        self.wrap(around, format!("/*{{{id}*/"), format!("/*{id}}}*/"));
    }

    /// Evaluates one of `others` instead of what is at `range`.
    fn instead(&mut self, range: Range<usize>, others: &[(usize, String)]) {
        let mut before = String::from("(");
        for (id, other) in others {
            self.mark(*id, range.clone());
            before +=
                &format!("/*<{id}*/if copilot_wire::mutant({id}) {{ {other} }} /*{id}>*/else ");
        }
        self.wrap(range, before + "{ ", " })".into());
    }

    /// Returns the value at the begin of a function.
    fn replace_value(&mut self, id: usize, mutant: &Mutant) {
        let body = self.offset(mutant.span.start)..self.offset(mutant.span.end);
        if let Some(function) = &mutant.function {
            self.mark(
                id,
                self.offset(function.span.start)..self.offset(function.span.end),
            );
        }
        let value = &mutant.replacement;
        self.wrap(
            body,
            format!("/*<{id}*/if copilot_wire::mutant({id}) {{ return {value}; }}/*{id}>*/ "),
            String::new(),
        );
    }

    fn finish(mut self) -> Combined {
        // What begins at one offset: the longest range first. What ends at one offset: the shortest first, and all of
        // it before what begins there.
        let mut parts = Vec::new();
        for (order, (range, before, behind)) in self.edits.drain(..).enumerate() {
            let (len, order) = (range.len() as isize, order as isize);
            parts.push(((range.start, 1, -len, order), before));
            parts.push(((range.end, 0, len, -order), behind));
        }
        parts.sort();
        let mut text = String::new();
        let mut done = 0;
        for ((at, ..), part) in parts {
            text += &self.source[done..at];
            text += &part;
            done = at;
        }
        text += &self.source[done..];

        let ids: BTreeSet<usize> = self.mutants.values().flatten().map(|(id, _)| *id).collect();
        let between = |open: String, close: String| {
            Some(text.find(&open)?..text.rfind(&close)? + close.len())
        };
        let places = ids.into_iter().filter_map(|id| {
            let code = between(format!("/*<{id}*/"), format!("/*{id}>*/"))?;
            let around = between(format!("/*{{{id}*/"), format!("/*{id}}}*/"));
            Some((id, code.clone(), around.unwrap_or(code)))
        });
        Combined {
            places: places.collect(),
            text,
        }
    }
}

impl<'a> Visit<'a> for Combiner<'_> {
    fn visit_expr_binary(&mut self, node: &'a ExprBinary) {
        let mutants = self.of(&node.op, Genre::BinaryOperator);
        // `let` is no expression of its own.
        if !mutants.is_empty() && !has_let(&node.left) && !has_let(&node.right) {
            let (left, right) = (self.text(&node.left), self.text(&node.right));
            let others: Vec<_> = (mutants.iter())
                .map(|(id, mutant)| (*id, format!("{left} {} {right}", mutant.replacement)))
                .collect();
            self.instead(self.range(node), &others);
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'a ExprUnary) {
        let operand = self.text(&node.expr);
        let others: Vec<_> = (self.of(node, Genre::UnaryOperator).iter())
            .map(|(id, _)| (*id, operand.to_owned()))
            .collect();
        if !others.is_empty() {
            self.instead(self.range(node), &others);
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_match(&mut self, node: &'a ExprMatch) {
        self.enclosing.push(self.range(node));
        visit::visit_expr_match(self, node);
        self.enclosing.pop();
    }

    fn visit_arm(&mut self, node: &'a Arm) {
        let arm = self.of(node, Genre::MatchArm);
        for (id, _) in &arm {
            if let Some(around) = self.enclosing.last().cloned() {
                self.mark(*id, around);
            }
            let kept = format!("/*<{id}*/!copilot_wire::mutant({id})/*{id}>*/");
            match &node.guard {
                Some((_, guard)) => {
                    self.wrap(self.range(guard), format!("{kept} && ("), ")".into())
                }
                None => self.wrap(self.range(&node.pat), String::new(), format!(" if {kept}")),
            }
        }
        if let Some((_, guard)) = &node.guard {
            for (id, mutant) in self.of(guard, Genre::MatchArmGuard) {
                let value = mutant.replacement.as_str() == "true";
                let (before, behind) = match value {
                    true => (
                        format!("(/*<{id}*/copilot_wire::mutant({id})/*{id}>*/ || ("),
                        "))",
                    ),
                    false => (
                        format!("(/*<{id}*/!copilot_wire::mutant({id})/*{id}>*/ && ("),
                        "))",
                    ),
                };
                self.wrap(self.range(guard), before, behind.into());
            }
        }
        visit::visit_arm(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'a ExprStruct) {
        for field in &node.fields {
            let (mutants, Some(rest)) = (self.of(field, Genre::StructField), &node.rest) else {
                continue;
            };
            let (rest, member) = (self.text(rest), self.text(&field.member));
            let others: Vec<_> = mutants
                .iter()
                .map(|(id, _)| (*id, format!("({rest}).{member}")))
                .collect();
            if others.is_empty() {
                continue;
            }
            if field.colon_token.is_none() {
                self.wrap(self.range(field), format!("{member}: "), String::new());
            }
            self.instead(self.range(&field.expr), &others);
        }
        visit::visit_expr_struct(self, node);
    }
}

fn place(LineColumn { line, column }: LineColumn) -> Place {
    Place {
        line,
        column: column + 1,
    }
}

/// Returns `true` if the condition has a `let` outside of any parentheses.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}
