package import APNs
package import ApplePayload
import DeliveryEngine
package import EngineStore
package import GatewayHTTP
import HTTP2
package import Model

/// The broadcast channels of an app. Each call is forwarded to Apple while the caller waits; the gateway stores nothing.
package struct AppleChannels: Sendable {
    /// Returns the channel client of a credential.
    package typealias Client = @Sendable (CredentialKey, PushEnvironment) throws(APNsError) -> ChannelClient

    /// Selects the channels: Apple keeps separate channels of an app for each environment.
    package struct Scope: Sendable {
        package var tenant: TenantID
        package var app: AppID
        package var environment: PushEnvironment

        package init(tenant: TenantID, app: AppID, environment: PushEnvironment) {
            self.tenant = tenant
            self.app = app
            self.environment = environment
        }
    }

    let directory: PostgresDirectory
    let client: Client

    package init(directory: PostgresDirectory, client: @escaping Client) {
        self.directory = directory
        self.client = client
    }

    /// Apple's answer to a call about channels.
    ///
    /// - Throws: `Problem`, also for a refusal by Apple.
    package func manage(_ operation: ChannelRequest.Operation, _ scope: Scope) async throws(Problem)
        -> ChannelAnswer.Result
    {
        let (client, topic) = try await route(scope)
        let answer: ChannelAnswer
        do throws(ChannelClient.Failure) {
            answer = try await client.send(ChannelRequest(bundleID: topic, operation))
        } catch {
            throw Problem(error)
        }
        switch answer.result {
        case .refused(let refusal): throw Problem(refusal, isAboutChannel: operation.channel != nil)
        case .unreadable(let status):
            throw .pushServiceFailed("the push service answered \(status) without a readable result")
        case .created, .channel, .deleted, .channels: return answer.result
        }
    }

    /// Sends an update or the end of a Live Activity to everyone who follows a channel.
    ///
    /// - Returns: Apple's id of the request, and in the sandbox the key to its delivery log.
    /// - Throws: `Problem`, also for a refusal by Apple.
    package func send(
        _ activity: LiveActivity,
        to channel: ChannelID,
        priority: Int,
        expiresAt: Timestamp?,
        _ scope: Scope
    ) async throws(Problem) -> (requestID: String, logKey: String?) {
        let (client, topic) = try await route(scope)
        let broadcast = Broadcast(
            bundleID: topic,
            channel: channel,
            activity: activity,
            priority: priority,
            expiresAt: expiresAt
        )
        let answer: BroadcastAnswer
        do throws(ChannelClient.Failure) { answer = try await client.send(broadcast) } catch { throw Problem(error) }
        switch answer {
        case .accepted(let requestID, let logKey): return (requestID, logKey)
        case .refused(let refusal): throw Problem(refusal, isAboutChannel: true)
        }
    }

    /// - Throws: `Problem` where the app has no credential for the environment, or this node cannot use it.
    private func route(_ scope: Scope) async throws(Problem) -> (ChannelClient, topic: String) {
        let route: PlatformRoute?
        do { route = try await directory.routes(of: scope.app, in: scope.tenant)[.ios] } catch { throw .unavailable(5) }
        guard let route, let credential = route.credentials[scope.environment] else {
            throw .noCredential(scope.app, scope.environment)
        }
        do throws(APNsError) {
            let key = CredentialKey(tenant: scope.tenant, credential: credential)
            return (try client(key, scope.environment), route.topic)
        } catch {
            switch error.code {
            case .noChannelEndpoint: throw .noChannelEndpoint(credential)
            // The credential is provisioned but not yet open on this node.
            default: throw .unavailable(1)
            }
        }
    }
}

/// The calls that are forwarded to Apple while the caller waits.
package struct AppleCalls: Sendable {
    package let channels: AppleChannels
    package let possession: PossessionPushes

    package init(channels: AppleChannels, possession: PossessionPushes) {
        self.channels = channels
        self.possession = possession
    }
}

extension ChannelRequest.Operation {
    /// Returns the channel with this id.
    fileprivate var channel: ChannelID? {
        switch self {
        case .read(let channel), .delete(let channel): channel
        case .create, .list: nil
        }
    }
}

extension Problem {
    package static func noCredential(_ app: AppID, _ environment: PushEnvironment) -> Problem {
        Problem(.noCredential, "no push credential is provisioned for app '\(app)' and \(environment.rawValue)")
    }

    package static func noChannelEndpoint(_ credential: CredentialID) -> Problem {
        Problem(
            .noCredential,
            "credential '\(credential)' has an endpoint that is not Apple's and no channelEndpoint"
        )
    }

    package static func pushServiceFailed(_ detail: String, retryAfter: Duration? = nil) -> Problem {
        Problem(.pushServiceFailed, detail, retryAfterSeconds: retryAfter.map { Int(clamping: $0.components.seconds) })
    }

    /// The problem of a call that Apple did not answer.
    fileprivate init(_ failure: ChannelClient.Failure) {
        switch failure {
        case .fault(let fault): self = Problem(.invalid, fault.description)
        case .authorization: self = .unavailable(5)
        case .unanswered(let error):
            let outcome = error.isUnsent ? "the request was not sent" : "the request may have been processed"
            self = .pushServiceFailed("the push service gave no answer (\(error.code)); \(outcome)")
        }
    }

    /// Apple's refusal. `isAboutChannel`: the call named a channel, so that an unknown path is one that does not exist.
    fileprivate init(_ refusal: ChannelRefusal, isAboutChannel: Bool) {
        let reason = refusal.reason.wireName.isEmpty ? "no reason" : refusal.reason.wireName
        if isAboutChannel, refusal.status == 404 || refusal.reason.rule?.subject == .channel {
            self = .notFound("no such channel (\(reason))")
        } else if refusal.status == 429 {
            self = .rateLimited(Int(clamping: refusal.retryAfter?.components.seconds ?? 60))
        } else if refusal.retry == .later {
            self = .pushServiceFailed(
                "the push service answered \(refusal.status) \(reason)",
                retryAfter: refusal.retryAfter
            )
        } else {
            self = Problem(.pushServiceRefused, "the push service answered \(refusal.status) \(reason)")
        }
    }
}
