/// The JSON form on the control port:
/// `{"token", "status", "reason"?, "timestamp"?, "times"?, "latencyMs"?, "retryAfter"?}` or
/// `{"token", "fault": "goaway"|"reset"|"silence"|"close"|"half", "code"?, "reason"?, "processed"?, "delivered"?, "times"?, "latencyMs"?}`.
extension ScriptedAnswer: Decodable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case token, status, reason, timestamp, times, latencyMs, retryAfter, fault, code, processed, delivered
    }

    /// An hour: longer waits belong to `silence`, and a timer per push must not live for ever.
    private static let longestLatencyMilliseconds = 3_600_000

    package init(from decoder: any Decoder) throws {
        try refuseUnknownFields(in: decoder, known: CodingKeys.allCases.map(\.rawValue))
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func refuse(_ key: CodingKeys, _ sentence: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: fields, debugDescription: sentence)
        }

        let token = try fields.decode(String.self, forKey: .token)
        let status = try fields.decodeIfPresent(Int.self, forKey: .status)
        let times = try fields.decodeIfPresent(Int.self, forKey: .times)
        let latency = try fields.decodeIfPresent(Int.self, forKey: .latencyMs) ?? 0
        let reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        guard (1...1024).contains(token.utf8.count) else { throw refuse(.token, "1 to 1024 characters") }
        guard times.map({ $0 > 0 }) ?? true else { throw refuse(.times, "must be positive") }
        guard (0...Self.longestLatencyMilliseconds).contains(latency) else {
            throw refuse(.latencyMs, "0 to \(Self.longestLatencyMilliseconds)")
        }

        if let name = try fields.decodeIfPresent(String.self, forKey: .fault) {
            guard status == nil else { throw refuse(.status, "an answer has a status or a fault, not both") }
            let code = try fields.decodeIfPresent(Int.self, forKey: .code)
            guard code.map({ (0...Int(UInt32.max)).contains($0) }) ?? true else {
                throw refuse(.code, "an HTTP/2 error code has 32 bits")
            }
            let isProcessed = try fields.decodeIfPresent(Bool.self, forKey: .processed) ?? false
            guard let fault = Fault(name, code: code, reason: reason, isProcessed: isProcessed) else {
                throw refuse(.fault, "goaway, reset, silence, close or half")
            }
            let isDelivered = try fields.decodeIfPresent(Bool.self, forKey: .delivered) ?? false
            self.init(token: token, fault: fault, times: times, isDelivered: isDelivered)
        } else {
            guard let status, (200...599).contains(status) else {
                throw refuse(.status, "a status of 200 to 599, or a fault, is needed")
            }
            let timestamp = try fields.decodeIfPresent(Int.self, forKey: .timestamp)
            self.init(token: token, status: status, reason: reason, timestamp: timestamp, times: times)
            retryAfter = try fields.decodeIfPresent(Int.self, forKey: .retryAfter)
        }
        self.latency = .milliseconds(latency)
    }
}

extension Fault {
    fileprivate init?(_ name: String, code: Int?, reason: String?, isProcessed: Bool) {
        switch name {
        case "goaway":
            self = .goAway(code: code ?? 0, reason: reason ?? Reason.shutdown.rawValue, isProcessed: isProcessed)
        case "reset": self = .reset(code: code ?? 7)
        case "silence": self = .silence
        case "close": self = .close
        case "half": self = .halfFrame
        default: return nil
        }
    }
}
