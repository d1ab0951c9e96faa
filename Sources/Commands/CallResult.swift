package import Model

/// What came of one call: a reply per command, and the slices that this node accepted for sending now.
package struct CallResult: Sendable, Hashable {
    /// Parallel to the commands.
    package var replies: [Reply]
    /// Leases of this node, committed with the messages. Whoever called must give them to the delivery engine; if it does not, they are sent by
    /// whichever node finds them when the leases end.
    package var handover: [SliceLease]

    package init(replies: [Reply], handover: [SliceLease] = []) {
        self.replies = replies
        self.handover = handover
    }
}
