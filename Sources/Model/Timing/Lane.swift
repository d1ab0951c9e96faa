/// The urgency of a message, which is the order in which nodes claim work.
package enum Lane: Int16, Sendable, Hashable, CaseIterable {
    case urgent = 0
    case transactional = 1
    case bulk = 2
    case background = 3
}
