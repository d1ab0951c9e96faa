/// The number and the bytes of calls that wait, within limits. Pure.
package struct CallRoom: Sendable {
    private let limit: Int
    private let limitBytes: Int
    private var count = 0
    private var bytes = 0

    package init(limit: Int, limitBytes: Int) {
        self.limit = limit
        self.limitBytes = limitBytes
    }

    /// Adds a call. Returns false, and adds nothing, if it does not fit.
    package mutating func enter(bytes added: Int) -> Bool {
        guard count < limit, bytes + added <= limitBytes else { return false }
        count += 1
        bytes += added
        return true
    }

    /// Removes a call that has entered.
    package mutating func leave(bytes removed: Int) {
        count -= 1
        bytes -= removed
    }
}
