/// The fields of a script entry as they were written, before they are interpreted.
struct ScriptFields: Decodable {
    /// A connection's number, or `"*"` for every connection.
    struct ConnectionChoice: Decodable {
        /// Nil for every connection.
        var number: Int?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                guard text == "*" else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "a number, or \"*\"")
                }
            } else {
                let number = try container.decode(Int.self)
                guard number > 0 else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "1 or more, or \"*\"")
                }
                self.number = number
            }
        }
    }

    /// The field names.
    enum Key: String, CodingKey, CaseIterable {
        case token, connection, stream, every, share, times, forMs, at
        case status, reason, timestamp, retryAfter, latencyMs, latency, shape
        case fault, code, text, lastStream, processed, twice, then, streams, restoreMs, refuse, windowBytes, bytes
        case delivered
    }

    let token: String?
    let connection: ConnectionChoice?
    let stream: Int?
    let every: Int?
    let share: Double?
    let times: Int?
    let forMs: Int?
    let at: String?
    let status: Int?
    let reason: String?
    let timestamp: Int?
    let retryAfter: Int?
    let latencyMs: Int?
    let latency: Latency?
    let shape: String?
    let fault: String?
    let code: Int?
    let text: String?
    let lastStream: String?
    let processed: Bool?
    let twice: String?
    let then: String?
    let streams: Int?
    let restoreMs: Int?
    let refuse: Bool?
    let windowBytes: Int?
    let bytes: String?
    let delivered: Bool?

    private let path: [any CodingKey]

    init(from decoder: any Decoder) throws {
        try refuseUnknownFields(in: decoder, known: Key.allCases.map(\.rawValue))
        let fields = try decoder.container(keyedBy: Key.self)
        path = decoder.codingPath
        token = try fields.decodeIfPresent(String.self, forKey: .token)
        connection = try fields.decodeIfPresent(ConnectionChoice.self, forKey: .connection)
        stream = try fields.decodeIfPresent(Int.self, forKey: .stream)
        every = try fields.decodeIfPresent(Int.self, forKey: .every)
        share = try fields.decodeIfPresent(Double.self, forKey: .share)
        times = try fields.decodeIfPresent(Int.self, forKey: .times)
        forMs = try fields.decodeIfPresent(Int.self, forKey: .forMs)
        at = try fields.decodeIfPresent(String.self, forKey: .at)
        status = try fields.decodeIfPresent(Int.self, forKey: .status)
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        timestamp = try fields.decodeIfPresent(Int.self, forKey: .timestamp)
        retryAfter = try fields.decodeIfPresent(Int.self, forKey: .retryAfter)
        latencyMs = try fields.decodeIfPresent(Int.self, forKey: .latencyMs)
        latency = try fields.decodeIfPresent(Latency.self, forKey: .latency)
        shape = try fields.decodeIfPresent(String.self, forKey: .shape)
        fault = try fields.decodeIfPresent(String.self, forKey: .fault)
        code = try fields.decodeIfPresent(Int.self, forKey: .code)
        text = try fields.decodeIfPresent(String.self, forKey: .text)
        lastStream = try fields.decodeIfPresent(String.self, forKey: .lastStream)
        processed = try fields.decodeIfPresent(Bool.self, forKey: .processed)
        twice = try fields.decodeIfPresent(String.self, forKey: .twice)
        then = try fields.decodeIfPresent(String.self, forKey: .then)
        streams = try fields.decodeIfPresent(Int.self, forKey: .streams)
        restoreMs = try fields.decodeIfPresent(Int.self, forKey: .restoreMs)
        refuse = try fields.decodeIfPresent(Bool.self, forKey: .refuse)
        windowBytes = try fields.decodeIfPresent(Int.self, forKey: .windowBytes)
        bytes = try fields.decodeIfPresent(String.self, forKey: .bytes)
        delivered = try fields.decodeIfPresent(Bool.self, forKey: .delivered)
    }

    /// Creates an error that names the field.
    func refusal(_ key: Key, _ sentence: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: path + [key], debugDescription: sentence))
    }
}

/// The body of `POST /_simulator/connections`: one fault, for one open connection or for all of them.
struct ConnectionFaultOrder: Decodable {
    /// Nil for every connection.
    let connection: Int?
    let fault: Fault

    init(from decoder: any Decoder) throws {
        let fields = try ScriptFields(from: decoder)
        guard let name = fields.fault else { throw fields.refusal(.fault, "a fault is required") }
        guard let choice = fields.connection else { throw fields.refusal(.connection, "\"*\" or a number is required") }
        connection = choice.number
        fault = try fields.makeFault(name, at: .open)
    }
}
