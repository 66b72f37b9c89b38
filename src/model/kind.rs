/// What a record is. The names are those of the neutral format (`sample-sessions/README.md`) and of every
/// `--json` document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Text of the user role: a person's prompt, or something injected in their name (then flagged `META`).
    User,
    /// Text written by the model.
    Assistant,
    /// Reasoning, signed or not. Lives and dies with its response.
    Thinking,
    /// A tool call: opens an obligation.
    Call,
    /// Terminal resolution of a call: success.
    Result,
    /// Terminal resolution of a call: failure.
    Error,
    /// Terminal resolution of a call: given up, outcome unknown. Carries no payload.
    Abandoned,
    /// A person was asked to approve something.
    ApprovalRequest,
    /// The answer to an approval request.
    Approval,
    /// A transaction was begun.
    TransactionBegin,
    /// A transaction was committed or rolled back.
    TransactionEnd,
    /// A retry counter stands above zero.
    Retry,
    /// A retry counter went back to zero.
    RetrySettled,
    /// A background task was started.
    TaskStarted,
    /// A background task ended.
    TaskEnded,
    /// A compaction summary stands for everything before it.
    Summary,
    /// Inert lines: progress, notices, injected context.
    Notice,
    /// A line that was not understood: kept byte for byte, counted, inert.
    Opaque,
}

impl Kind {
    /// Every kind, for exhaustive tests and tables.
    pub const ALL: [Self; 18] = [
        Self::User,
        Self::Assistant,
        Self::Thinking,
        Self::Call,
        Self::Result,
        Self::Error,
        Self::Abandoned,
        Self::ApprovalRequest,
        Self::Approval,
        Self::TransactionBegin,
        Self::TransactionEnd,
        Self::Retry,
        Self::RetrySettled,
        Self::TaskStarted,
        Self::TaskEnded,
        Self::Summary,
        Self::Notice,
        Self::Opaque,
    ];

    /// Name in the neutral format and in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
            Self::Error => "error",
            Self::Abandoned => "abandoned",
            Self::ApprovalRequest => "approval-request",
            Self::Approval => "approval",
            Self::TransactionBegin => "transaction-begin",
            Self::TransactionEnd => "transaction-end",
            Self::Retry | Self::RetrySettled => "retry",
            Self::TaskStarted => "task-started",
            Self::TaskEnded => "task-ended",
            Self::Summary => "summary",
            Self::Notice => "notice",
            Self::Opaque => "opaque",
        }
    }

    /// Written by the model: the parts of a response.
    pub fn is_response_part(self) -> bool {
        matches!(self, Self::Assistant | Self::Thinking | Self::Call)
    }

    /// Ends a call: result, error or abandonment.
    pub fn is_resolution(self) -> bool {
        matches!(self, Self::Result | Self::Error | Self::Abandoned)
    }
}
