/// What a session tells its connection besides completions.
package enum SessionEvent: Sendable, Equatable {
    /// The peer's SETTINGS changed how many streams may be open.
    case streamLimit(Int)
    /// The peer takes no more requests; queued ones have completed as unsent.
    case goAway(GoAway)
    /// The answer to `Session.ping`.
    case pingAnswered
    /// The stream numbers are used up: drain and open another connection.
    case exhausted
}
