import HTTP2
import HTTP2Support

/// A client `Session` and a `PeerServer`, connected only by arrays.
struct Pair {
    let client: Session
    let server: PeerServer
    let head: HeaderBlock
    /// A distant deadline that tests without deadlines never reach.
    static let never = ContinuousClock.now + .seconds(86_400)

    struct NoServer: Error {}

    init(
        serverStreams: UInt32? = 100,
        serverWindow: UInt32? = nil,
        initialStreamLimit: Int = 1,
        limits: HTTP2Limits = HTTP2Limits(),
        collected: [FieldName] = []
    ) throws {
        client = try Session(limits: limits, initialStreamLimit: initialStreamLimit, collectedFields: collected)
        guard let server = PeerServer(maxStreams: serverStreams, initialWindow: serverWindow) else { throw NoServer() }
        self.server = server
        head = try HeaderBlock(
            method: "POST",
            authority: "example.com",
            fields: [(FieldName("apns-topic"), "com.example.shop")]
        )
    }

    /// Passes bytes on until neither side has any.
    func exchange(dispatched: HeaderBlock? = nil) throws {
        while true {
            let request = try client.output(dispatched: dispatched)
            server.receive(request)
            let response = server.output()
            if request.isEmpty, response.isEmpty { return }
            try client.receive(response)
        }
    }

    /// Enqueues requests with these slots.
    func enqueue(
        _ slots: some Sequence<UInt64>,
        body: [UInt8] = Array("{}".utf8),
        deadline: ContinuousClock.Instant = Pair.never,
        _ fields: (inout RequestWriter) -> Void = { _ in }
    ) {
        var batch = RequestBatch()
        for slot in slots {
            batch.append(slot: slot, head: head, deadline: deadline) { writer in
                writer.path("/3/device/\(slot)")
                fields(&writer)
                writer.body(body)
            }
        }
        client.enqueue(&batch)
    }

    /// The completions since the last call: an outcome as text, by slot. A slot that completed twice shows both.
    func outcomes() -> [UInt64: String] {
        defer { client.completions.removeAll() }
        return Dictionary(client.completions.map { ($0.slot, describe($0.result)) }) { "\($0), \($1)" }
    }

    /// The events since the last call.
    func events() -> [SessionEvent] {
        defer { client.events.removeAll() }
        return client.events
    }
}

/// A result in one word or two.
func describe(_ result: Result<Response, HTTP2Error>) -> String {
    switch result {
    case .success(let response): "\(response.status)"
    case .failure(let error): "\(error.code) \(error.isUnsent ? "unsent" : "unknown")"
    }
}
