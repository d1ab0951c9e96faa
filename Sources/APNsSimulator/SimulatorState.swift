import Dispatch
import NIOConcurrencyHelpers

/// The state that all connections and the control port share: the rules, the script, the registries and the ledger.
///
/// Each part has its own lock; a connection takes the ledger's lock once per turn of its event loop, not once per push.
final class SimulatorState: Sendable {
    let configuration: SimulatorConfiguration
    let ruleBook: RuleBook
    let connections = ConnectionBook()

    private let ledger: NIOLockedValueBox<Ledger>
    private let script: NIOLockedValueBox<ScriptBook>
    private let rates = NIOLockedValueBox(PushRateGuard())
    private let devices = NIOLockedValueBox(DeviceBook())
    private let channels = NIOLockedValueBox(ChannelBook())
    private let revoked = NIOLockedValueBox<Set<String>>([])
    private let latencyBox: NIOLockedValueBox<Latency>

    /// The control port can revoke 10,000 keys, more than any registry contains.
    private static let largestRevokedCount = 10_000

    init(_ configuration: SimulatorConfiguration) {
        self.configuration = configuration
        var settings = RuleBook.Settings(keys: configuration.keys, environment: configuration.environment)
        settings.refusesUndeliverablePayloads = configuration.refusesUndeliverablePayloads
        settings.wedgesOnExpiredToken = configuration.wedgesOnExpiredToken
        settings.silencesAfterTokenUpdates = configuration.silencesAfterTokenUpdates
        settings.knowsEveryDevice = configuration.knowsEveryDevice
        settings.deviceTokenBytes = configuration.deviceTokenBytes
        settings.broadcastApps = configuration.broadcastApps
        ruleBook = RuleBook(settings)
        script = NIOLockedValueBox(ScriptBook(seed: configuration.seed))
        latencyBox = NIOLockedValueBox(configuration.latency)
        ledger = NIOLockedValueBox(
            Ledger(
                recordLimit: configuration.recordedRequestLimit,
                trackedLimit: configuration.trackedDeliveryLimit
            )
        )
    }

    /// The delay of all answers.
    var latency: Latency {
        get { latencyBox.withLockedValue { $0 } }
        set { latencyBox.withLockedValue { $0 = newValue } }
    }

    /// The facts that the rules need, for one request of one connection.
    func facts(connection: Int, stream: Int) -> WorldFacts {
        let limit = configuration.pushesPerTokenAndSecond
        return WorldFacts(
            scriptedAnswer: { [self] token in
                takeScripted(ScriptOccasion(token: token, connection: connection, stream: stream))
            },
            isOverRate: { [rates] token, now in
                guard let limit else { return false }
                return rates.withLockedValue { $0.isOver(limit, token: token, now: now) }
            },
            device: { [devices] token in devices.withLockedValue { $0.find(token) } },
            isRevoked: { [revoked] keyID in revoked.withLockedValue { $0.contains(keyID) } },
            channels: channelFacts
        )
    }

    private var channelFacts: ChannelFacts {
        ChannelFacts(
            find: { [channels] bundle, id in channels.withLockedValue { $0.find(bundle, id) } },
            create: { [channels] bundle, stores in
                channels.withLockedValue { $0.create(bundle, storesNewest: stores) }
            },
            delete: { [channels] bundle, id in channels.withLockedValue { $0.delete(bundle, id) } },
            list: { [channels] bundle in channels.withLockedValue { $0.list(bundle) } }
        )
    }

    /// Reads or changes the ledger.
    func withLedger<Value: Sendable>(_ body: (inout Ledger) -> Value) -> Value {
        ledger.withLockedValue(body)
    }

    // MARK: The script

    /// Takes the matching script entry, if there is one.
    func takeScripted(_ occasion: ScriptOccasion) -> ScriptedAnswer? {
        script.withLockedValue { book in
            guard !book.isEmpty else { return nil }
            var occasion = occasion
            occasion.now = DispatchTime.now().uptimeNanoseconds
            return book.take(occasion)
        }
    }

    /// Adds scripted answers.
    ///
    /// - Throws: `SimulatorError` if the mode does not support them or there are too many.
    func addScript(_ answers: [ScriptedAnswer]) throws(SimulatorError) {
        if configuration.mode == .accept {
            throw SimulatorError(.script, "Mode accept does not check tokens; start with --mode validate or script.")
        }
        if configuration.mode == .validate, answers.contains(where: { $0.fault != nil }) {
            throw SimulatorError(.script, "Faults require --mode script.")
        }
        let failure: SimulatorError? = script.withLockedValue { book in
            do throws(SimulatorError) {
                try book.add(answers, now: DispatchTime.now().uptimeNanoseconds)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// How many scripted answers are left.
    var scriptedCount: Int { script.withLockedValue(\.count) }

    /// Discards the script.
    func clearScript() {
        let seed = configuration.seed
        script.withLockedValue { $0 = ScriptBook(seed: seed) }
    }

    // MARK: The registries

    /// Registers device tokens.
    ///
    /// - Throws: `SimulatorError` if there are too many.
    func register(_ registrations: [(token: String, device: RegisteredDevice)]) throws(SimulatorError) {
        let failure: SimulatorError? = devices.withLockedValue { book in
            do throws(SimulatorError) {
                try book.add(registrations)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// How many device tokens are registered.
    var deviceCount: Int { devices.withLockedValue(\.count) }

    /// The channels, at most `limit`.
    func allChannels(limit: Int) -> [(bundle: String, channel: BroadcastChannel)] {
        channels.withLockedValue { $0.all(limit: limit) }
    }

    /// Revokes a provider key, or cancels the revocation.
    func setRevoked(_ keyID: String, _ isRevoked: Bool) {
        revoked.withLockedValue { keys in
            if !isRevoked {
                keys.remove(keyID)
            } else if keys.count < Self.largestRevokedCount {
                keys.insert(keyID)
            }
        }
    }

    /// Discards the script, the registries and everything that was counted and recorded. Connections stay open.
    func reset() {
        clearScript()
        rates.withLockedValue { $0 = PushRateGuard() }
        devices.withLockedValue { $0 = DeviceBook() }
        channels.withLockedValue { $0 = ChannelBook() }
        revoked.withLockedValue { $0 = [] }
        withLedger { $0.reset() }
    }
}
