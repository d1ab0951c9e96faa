/// The events, other than completions, that a session reports to its connection.
package enum SessionEvent: Sendable, Equatable {
    /// The peer's SETTINGS changed how many streams may be open.
    case streamLimit(Int)
    /// The peer accepts no new requests; the queued ones have completed as unsent.
    case goAway(GoAway)
    /// The peer answered `Session.ping`.
    case pingAnswered
    /// The stream numbers are used up: drain and open another connection.
    case exhausted
}
