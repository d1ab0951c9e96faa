import Foundation

/// The calls about connections, credentials, devices and channels.
extension ControlRoutes {
    /// 10,000 channels in one answer, about a megabyte.
    private static let largestChannelList = 10_000

    var connections: [[String: Any]] {
        state.connections.entries.map { entry in
            [
                "connection": entry.number,
                "listener": entry.listener == .send ? "send" : "manage",
                "openStreams": entry.openStreams,
                "requests": entry.requests,
                "advertisedStreams": entry.advertisedStreams,
                "team": entry.team ?? NSNull(),
                "certificate": entry.certificate ?? NSNull(),
            ]
        }
    }

    var channels: [[String: Any]] {
        state.allChannels(limit: Self.largestChannelList).map { bundle, channel in
            ["bundle": bundle, "channel": channel.id, "policy": channel.storesNewest ? 1 : 0]
        }
    }

    /// Injects a fault into open connections.
    func play(_ body: Data) -> Answer {
        read(ConnectionFaultOrder.self, body) { order throws(SimulatorError) in
            guard state.configuration.mode == .script else {
                throw SimulatorError(.script, "Faults require --mode script.")
            }
            return .success(["played": control.play(order.fault, onConnection: order.connection)])
        }
    }

    /// Creates a client certificate.
    func certificate(_ body: Data) -> Answer {
        read(ClientCertificateRequest.self, body) { request throws(SimulatorError) in
            let identity = try control.makeClientIdentity(request)
            return .success(["certificate": identity.certificatePEM, "key": identity.keyPEM])
        }
    }

    /// Registers device tokens.
    func register(_ body: Data) -> Answer {
        read([ListedDevice].self, body) { registrations throws(SimulatorError) in
            try control.register(registrations.map { ($0.token, $0.device) })
            return .success(["devices": state.deviceCount])
        }
    }

    /// Revokes a provider key.
    func revoke(_ body: Data) -> Answer {
        read(Revocation.self, body) { order throws(SimulatorError) in
            control.setRevoked(order.keyId, order.revoked)
            return .success(["keyId": order.keyId, "revoked": order.revoked])
        }
    }

    /// Changes the delay of all answers.
    func changeLatency(_ body: Data) -> Answer {
        read(LatencyOrder.self, body) { order throws(SimulatorError) in
            control.setLatency(order.latency)
            return .success([:])
        }
    }
}

/// `{"keyId","revoked"}`.
private struct Revocation: Decodable {
    let keyId: String
    let revoked: Bool

    private enum Key: String, CodingKey, CaseIterable { case keyId, revoked }

    init(from decoder: any Decoder) throws {
        try refuseUnknownFields(in: decoder, known: Key.allCases.map(\.rawValue))
        let fields = try decoder.container(keyedBy: Key.self)
        keyId = try fields.decode(String.self, forKey: .keyId)
        revoked = try fields.decode(Bool.self, forKey: .revoked)
        guard (1...64).contains(keyId.utf8.count) else {
            throw DecodingError.dataCorruptedError(
                forKey: .keyId,
                in: fields,
                debugDescription: "1 to 64 characters"
            )
        }
    }
}

/// `{"latency": …}`.
private struct LatencyOrder: Decodable {
    let latency: Latency

    private enum Key: String, CodingKey, CaseIterable { case latency }

    init(from decoder: any Decoder) throws {
        try refuseUnknownFields(in: decoder, known: Key.allCases.map(\.rawValue))
        latency = try decoder.container(keyedBy: Key.self).decode(Latency.self, forKey: .latency)
    }
}
