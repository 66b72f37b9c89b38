//! Colours: few meanings, and none said by colour alone.

use ratatui::style::{Color, Modifier, Style};

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// None: bold, dim, reverse and underline carry the meaning.
    Mono,
    /// The 16 of the terminal's own palette.
    #[default]
    Sixteen,
}

/// What the colours must stand out from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Dark.
    #[default]
    Dark,
    /// Light.
    Light,
}

/// Styles by meaning. Text stays in the terminal's own foreground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// Colours of the terminal.
    pub depth: Depth,
    /// Its background.
    pub background: Background,
}

impl Theme {
    fn hue(self, dark: Color, light: Color) -> Style {
        match (self.depth, self.background) {
            (Depth::Mono, _) => Style::new(),
            (Depth::Sixteen, Background::Dark) => Style::new().fg(dark),
            (Depth::Sixteen, Background::Light) => Style::new().fg(light),
        }
    }

    /// Plain text.
    pub fn text(self) -> Style {
        Style::new()
    }

    /// The second voice: numbers, times, closed rails.
    pub fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Titles and names.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Open, owed: heavy.
    pub fn open(self) -> Style {
        self.hue(Color::LightYellow, Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Failed, refused, critical.
    pub fn bad(self) -> Style {
        self.hue(Color::LightRed, Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Succeeded, legal.
    pub fn good(self) -> Style {
        self.hue(Color::LightGreen, Color::Green)
    }

    /// Marks of the budget and of prompts.
    pub fn mark(self) -> Style {
        self.hue(Color::LightCyan, Color::Blue)
    }

    /// The row under the cursor.
    pub fn cursor(self) -> Style {
        // One plain bar: colours of the row would turn into patches of background.
        let plain = Style::new().fg(Color::Reset).bg(Color::Reset).remove_modifier(Modifier::DIM);
        plain.add_modifier(Modifier::REVERSED)
    }

    /// A verdict's own style.
    pub fn verdict(self, verdict: crate::cut::Verdict) -> Style {
        use crate::cut::Verdict;
        match verdict {
            Verdict::Compact => self.good().add_modifier(Modifier::BOLD),
            Verdict::Defer => self.open(),
            Verdict::Refuse => self.bad().add_modifier(Modifier::REVERSED),
            Verdict::NoOp => self.quiet(),
        }
    }

    /// Borders; of the focused pane stronger.
    pub fn border(self, focused: bool) -> Style {
        if focused { self.mark().add_modifier(Modifier::BOLD) } else { self.quiet() }
    }
}
