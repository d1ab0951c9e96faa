internal import Model

/// What neighbours in a batch mostly share, and what their requests' shared block is made of.
struct PushHead: Sendable {
    let topic: String
    let type: PushType
    let priority: Int

    init(_ push: Push) {
        topic = push.topic
        type = push.payload.type
        priority = push.payload.priority
    }

    /// Whether a push of a batch has the same.
    func isSame(_ pushes: Span<Push>, _ index: Int) -> Bool {
        // No "&&": a closure that captures a span is too much for our compiler.
        guard priority == pushes[index].payload.priority, type == pushes[index].payload.type else { return false }
        return topic == pushes[index].topic
    }
}
