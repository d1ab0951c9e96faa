/// A user's consent to messages about a subject.
package enum ConsentState: String, Sendable, Hashable, CaseIterable {
    case subscribed, unsubscribed
}
