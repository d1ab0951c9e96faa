import Foundation

/// The answers of the control port, without a socket: method, target and body in, status and JSON out.
struct ControlRoutes: Sendable {
    /// One response.
    struct Answer: Sendable {
        var status: Int
        var contentType = "application/json"
        var body: Data

        /// Creates a success.
        static func success(_ json: [String: Any]) -> Answer {
            Answer(status: 200, body: encode(json))
        }

        /// Creates a failure with a sentence for people.
        static func failure(_ status: Int, _ sentence: String) -> Answer {
            Answer(status: status, body: encode(["error": sentence]))
        }

        private static func encode(_ json: [String: Any]) -> Data {
            // Only values of this folder are encoded here. Any other value would be our own bug; it is shown as an empty object.
            let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
            return (try? JSONSerialization.data(withJSONObject: json, options: options)) ?? Data("{}".utf8)
        }
    }

    let control: SimulatorControl
    var state: SimulatorState { control.state }

    private static let prefix = "/_simulator/"
    private static let usualLimit = 100

    /// Answers one request.
    func answer(method: String, target: String, body: Data) -> Answer {
        let parts = URLComponents(string: target)
        guard let path = parts?.path, path.hasPrefix(Self.prefix) else { return .failure(404, "no such path") }
        let name = String(path.dropFirst(Self.prefix.count))
        switch (method, name) {
        case ("GET", "stats"): return .success(stats)
        case ("GET", "requests"): return requests(parts?.queryItems ?? [])
        case ("GET", "duplicates"): return .success(duplicates)
        case ("GET", "connections"): return .success(["connections": connections])
        case ("GET", "channels"): return .success(["channels": channels])
        case ("GET", "ca"):
            let pem = Data(control.authority.certificatePEM.utf8)
            return Answer(status: 200, contentType: "application/x-pem-file", body: pem)
        case ("POST", "script"): return script(body)
        case ("POST", "connections"): return play(body)
        case ("POST", "certificates"): return certificate(body)
        case ("POST", "devices"): return register(body)
        case ("POST", "keys"): return revoke(body)
        case ("POST", "latency"): return changeLatency(body)
        case ("DELETE", "script"):
            state.clearScript()
            return .success(["scripted": 0])
        case ("POST", "reset"):
            control.reset()
            return .success(["scripted": 0])
        default:
            return Self.names.contains(name)
                ? .failure(405, "\(method) is not allowed for \(path)") : .failure(404, "no such path")
        }
    }

    private static let names: Set<String> = [
        "stats", "requests", "duplicates", "connections", "channels", "ca", "script", "certificates", "devices", "keys",
        "latency", "reset",
    ]

    private var stats: [String: Any] {
        let stats = control.stats
        return [
            "mode": state.configuration.mode.rawValue,
            "accepted": stats.accepted,
            "rejected": stats.rejected,
            "rejectedTotal": stats.rejectedTotal,
            "unanswered": stats.unanswered,
            "connections": stats.connections,
            "connectionsTotal": stats.connectionsTotal,
            "streams": stats.streams,
            "streamsMax": stats.streamsMax,
            "distinctTokens": stats.distinctTokens,
            "distinctPairs": stats.distinctPairs,
            "repeats": stats.repeats,
            "untracked": stats.untracked,
            "overflowed": stats.untracked > 0,
            "findings": stats.findings,
            "faults": stats.faults,
            "scripted": state.scriptedCount,
        ]
    }

    private var duplicates: [String: Any] {
        let report = control.duplicates
        return [
            "pairs": report.pairs,
            "repeats": report.repeats,
            "untracked": report.untracked,
            "overflowed": report.untracked > 0,
            "duplicates": report.first.map {
                ["token": $0.token, "apnsId": $0.apnsID, "count": $0.count] as [String: Any]
            },
        ]
    }

    private func requests(_ query: [URLQueryItem]) -> Answer {
        var limit = Self.usualLimit
        if let text = query.first(where: { $0.name == "limit" })?.value {
            guard let number = Int(text), number >= 0 else { return .failure(400, "limit must be a number, 0 or more") }
            limit = number
        }
        let token = query.first { $0.name == "token" }?.value
        let found = control.requests(token: token, limit: limit)
        return .success(["requests": found.map(Self.json)])
    }

    private static func json(_ request: RecordedRequest) -> [String: Any] {
        let payload = try? JSONSerialization.jsonObject(with: Data(request.payload), options: .fragmentsAllowed)
        var json: [String: Any] = [
            "token": request.token,
            "status": request.status,
            "reason": request.reason ?? NSNull(),
            "headers": Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first },
            "payload": payload ?? NSNull(),
            "rule": ["row": request.row, "evidence": request.evidence.rawValue] as [String: Any],
            "findings": request.findings,
            "receivedAt": request.receivedAt,
            "connection": request.connection,
            "stream": request.stream,
        ]
        if payload == nil { json["payloadText"] = String(decoding: request.payload, as: UTF8.self) }
        return json
    }

    private func script(_ body: Data) -> Answer {
        read([ScriptedAnswer].self, body) { answers throws(SimulatorError) in
            try control.script(answers)
            return .success(["scripted": state.scriptedCount])
        }
    }

    /// Decodes the body and executes the order. Answers 400 if it cannot be decoded, 409 if it cannot be executed.
    func read<Order: Decodable>(
        _ type: Order.Type,
        _ body: Data,
        _ obey: (Order) throws(SimulatorError) -> Answer
    ) -> Answer {
        let order: Order
        do {
            order = try JSONDecoder().decode(type, from: body)
        } catch {
            return .failure(400, Self.sentence(of: error))
        }
        do {
            return try obey(order)
        } catch {
            return .failure(409, error.description)
        }
    }

    /// One line about the fault of a script and its place.
    private static func sentence(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "not JSON" }
        let context =
            switch error {
            case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: DecodingError.Context(codingPath: [], debugDescription: "not a script")
            }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    }
}
