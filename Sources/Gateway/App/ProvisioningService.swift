import APNs
import DeliveryEngine
import EngineStore
import Foundation
import Logging
import Model
import Observability
import Outgoing
import PostgresClient
import Secrets
import ServiceLifecycle

/// Opens the provisioned credentials and follows their changes: a rotated key drains its old connections, a removed credential closes them.
///
/// Notifications report changes. The service also polls every second, because a notification may be lost.
final class ProvisioningService: Service {
    /// One second: docs/operations.md#provisioning promises that a running gateway applies changes within it.
    static let period = Duration.seconds(1)

    private let directory: PostgresDirectory
    private let cache: CachedDirectory
    private let recorder: CaptureRecorder
    private let transport: APNsTransport
    private let engine: DeliveryEngine
    private let keyRing: KeyRing
    private let expiries: CredentialExpiries
    private let upstreams: OpenUpstreams
    /// Nil: the service only polls.
    private let listener: PostgresListener?
    private let logger: Logger
    private let opened: OpenCredentials
    /// A list of credentials that was read earlier must not be applied after a later one.
    private let runs = SerialRuns()

    init(
        directory: PostgresDirectory,
        cache: CachedDirectory,
        recorder: CaptureRecorder,
        transport: APNsTransport,
        engine: DeliveryEngine,
        keyRing: KeyRing,
        expiries: CredentialExpiries,
        upstreams: OpenUpstreams,
        listener: PostgresListener?,
        logger: Logger
    ) {
        self.directory = directory
        self.cache = cache
        self.recorder = recorder
        self.transport = transport
        self.engine = engine
        self.keyRing = keyRing
        self.expiries = expiries
        self.upstreams = upstreams
        self.listener = listener
        self.logger = logger
        opened = OpenCredentials()
    }

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.listen() }
            group.addTask { await self.poll() }
            do { try await gracefulShutdown() } catch {}
            group.cancelAll()
        }
    }

    private func listen() async {
        guard let listener else { return }
        for await event in listener.events() {
            switch event {
            case .mayHaveMissed: await changed()
            case .notification(let channel, _) where channel == PostgresChannel.provisioning: await changed()
            case .notification: engine.wake()
            }
        }
    }

    private func poll() async {
        while !Task.isCancelled {
            await follow()
            try? await cache.flushUses()
            try? await Task.sleep(for: Self.period)
        }
    }

    /// Reads everything again that `apply` or a call may have changed. Returns whether the database answered.
    @discardableResult
    func changed() async -> Bool {
        // In this order, so that new rules take effect when their upstream is open.
        let isRead = await follow()
        cache.forget()
        return isRead
    }

    /// Updates the open credentials and the running captures from the database. Returns whether it answered.
    @discardableResult
    func follow() async -> Bool { await runs.run { [self] in await followInTurn() } }

    private func followInTurn() async -> Bool {
        await recorder.refresh()
        let stored: [StoredCredential]
        do { stored = try await directory.credentials() } catch {
            logger.debug("cannot read credentials", metadata: [LogKey.error: "\(error)"])
            return false
        }
        engine.limit(Dictionary(stored.map { ($0.key, $0.rates) }, uniquingKeysWith: { first, _ in first }))
        let changes = await opened.changes(to: stored)
        for credential in changes.opened { await open(credential) }
        for key in changes.removed {
            transport.remove(key)
            expiries.note(key, nil)
            upstreams.remove(key)
            logger.notice(
                "credential removed",
                metadata: [LogKey.tenant: "\(key.tenant)", LogKey.credential: "\(key.credential)"]
            )
        }
        return true
    }

    private func open(_ stored: StoredCredential) async {
        let metadata: Logger.Metadata = [
            LogKey.tenant: "\(stored.key.tenant)", LogKey.credential: "\(stored.key.credential)",
        ]
        if stored.upstream != nil {
            // The credential may have been a key of the push service, which must not be used any longer.
            transport.remove(stored.key)
            expiries.note(stored.key, nil)
        }
        do {
            if let settings = try CredentialSecret.openUpstream(stored, with: keyRing) {
                guard let server = OutgoingServer(stored) else {
                    upstreams.remove(stored.key)
                    logger.error("the address of an upstream cannot be read", metadata: metadata)
                    return
                }
                upstreams.open(OpenUpstreams.Upstream(server: server, settings: settings))
                // Slices that waited for it may try again.
                await engine.forget(stored.key)
                logger.notice("upstream opened", metadata: metadata)
                return
            }
            upstreams.remove(stored.key)
            let credential = try CredentialSecret.open(stored, with: keyRing)
            try transport.open(stored.key, credential)
            expiries.note(stored.key, credential.preflight(for: [], at: engine.clock.now()).expiresAt)
            await engine.forget(stored.key)
            logger.notice("credential opened", metadata: metadata)
        } catch {
            // Its old address or secrets must not be used.
            upstreams.remove(stored.key)
            logger.error("credential cannot be opened", metadata: metadata.merging([LogKey.error: "\(error)"]) { $1 })
        }
    }
}

/// The open credentials with their versions.
actor OpenCredentials {
    private var versions: [CredentialKey: Int64] = [:]

    struct Changes: Sendable {
        var opened: [StoredCredential]
        var removed: [CredentialKey]
    }

    /// Returns the credentials to open and those to remove, and records the stored versions as open.
    func changes(to stored: [StoredCredential]) -> Changes {
        let fresh = stored.filter { versions[$0.key] != $0.version }
        let keys = Set(stored.map(\.key))
        let removed = versions.keys.filter { !keys.contains($0) }
        for credential in fresh { versions[credential.key] = credential.version }
        for key in removed { versions[key] = nil }
        return Changes(opened: fresh, removed: removed)
    }
}
