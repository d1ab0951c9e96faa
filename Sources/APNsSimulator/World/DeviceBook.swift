/// The registered facts of one device token.
package struct RegisteredDevice: Sendable, Equatable {
    /// The state of a device token.
    package enum State: String, Sendable, CaseIterable {
        /// Pushes are accepted.
        case active
        /// 410 `Unregistered`.
        case unregistered
        /// 410 `ExpiredToken`.
        case expired
    }

    /// The app's bundle identifier; nil if any topic is accepted.
    package var bundle: String?

    /// The only environment of the token; nil for the simulated one.
    package var environment: APNsEnvironment?

    package var state: State

    /// The timestamp of the 410 answer, milliseconds since 1970; nil for the time of the answer.
    package var timestamp: Int?

    /// Creates a device token's record.
    package init(
        bundle: String? = nil,
        environment: APNsEnvironment? = nil,
        state: State = .active,
        timestamp: Int? = nil
    ) {
        self.bundle = bundle
        self.environment = environment
        self.state = state
        self.timestamp = timestamp
    }
}

/// The device tokens that were registered at the control port. A pure value; its owner locks it.
struct DeviceBook: Sendable {
    /// 200,000 tokens, about 40 MB. The control port refuses more.
    static let largestCount = 200_000

    private var devices: [String: RegisteredDevice] = [:]

    var count: Int { devices.count }

    /// Finds a token, ignoring case because tokens are hexadecimal.
    func find(_ token: String) -> RegisteredDevice? {
        devices.isEmpty ? nil : devices[token.lowercased()]
    }

    /// - Throws: `SimulatorError` if there are too many; then nothing is added.
    mutating func add(_ registrations: [(token: String, device: RegisteredDevice)]) throws(SimulatorError) {
        guard devices.count + registrations.count <= Self.largestCount else {
            throw SimulatorError(.script, "At most \(Self.largestCount) device tokens can be registered.")
        }
        for (token, device) in registrations { devices[token.lowercased()] = device }
    }
}

/// One element of `POST /_simulator/devices`: `{"token","bundle"?,"environment"?,"state"?,"timestamp"?}`.
struct ListedDevice: Decodable {
    let token: String
    let device: RegisteredDevice

    private enum Key: String, CodingKey, CaseIterable { case token, bundle, environment, state, timestamp }

    init(from decoder: any Decoder) throws {
        try refuseUnknownFields(in: decoder, known: Key.allCases.map(\.rawValue))
        let fields = try decoder.container(keyedBy: Key.self)
        func word<Word: RawRepresentable>(_ key: Key, _ type: Word.Type) throws -> Word? where Word.RawValue == String {
            guard let text = try fields.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard let word = Word(rawValue: text) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "unknown word")
            }
            return word
        }
        token = try fields.decode(String.self, forKey: .token)
        guard (1...1024).contains(token.utf8.count) else {
            throw DecodingError.dataCorruptedError(
                forKey: .token,
                in: fields,
                debugDescription: "1 to 1024 characters"
            )
        }
        device = RegisteredDevice(
            bundle: try fields.decodeIfPresent(String.self, forKey: .bundle),
            environment: try word(.environment, APNsEnvironment.self),
            state: try word(.state, RegisteredDevice.State.self) ?? .active,
            timestamp: try fields.decodeIfPresent(Int.self, forKey: .timestamp)
        )
    }
}
