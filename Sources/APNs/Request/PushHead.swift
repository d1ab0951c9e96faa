internal import Model

/// The values that consecutive pushes of a batch usually share. The shared block of their requests is made of them.
struct PushHead: Sendable {
    let topic: String
    let type: PushType
    let priority: Int

    init(_ push: Push) {
        topic = push.topic
        type = push.payload.type
        priority = push.payload.priority
    }

    /// Whether a push of a batch has the same values.
    func isSame(_ pushes: Span<Push>, _ index: Int) -> Bool {
        // Not joined by "&&": the compiler does not accept a closure that captures a span.
        guard priority == pushes[index].payload.priority, type == pushes[index].payload.type else { return false }
        return topic == pushes[index].topic
    }
}
