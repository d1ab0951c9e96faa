package import Model

/// The result of one call: one reply per command, and the slices that this node accepted for sending now.
package struct CallResult: Sendable, Hashable {
    /// In the order of the commands.
    package var replies: [Reply]
    /// Leases of this node, committed with the messages. The caller must pass them to the delivery engine; otherwise another node sends them when the
    /// leases expire.
    package var handover: [SliceLease]

    package init(replies: [Reply], handover: [SliceLease] = []) {
        self.replies = replies
        self.handover = handover
    }
}
