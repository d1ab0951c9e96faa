import APNs
import DeliveryEngine
import EngineStore
import Explain
import GatewayHTTP
import Hummingbird
import Model
import Secrets
import Store

/// `/v1/nodes`, `/v1/queue`, `/v1/credentials` and `/v1/apps/{app}/bindings`: what an operator looks at.
enum OperatorOperations {
    static let all = [listCredentials, showBindings, showQueue, listNodes]

    struct PageInput: InputFields {
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    /// A credential with the result of its checks.
    struct CheckedCredential: Sendable {
        var listed: ListedCredential
        /// Nil: it cannot be opened.
        var preflight: CredentialPreflight?

        var id: String { listed.stored.key.credential.rawValue }
    }

    private static let use = AnswerShape<CredentialAssignment>(
        "CredentialUse",
        [
            .text("topic", "The topic of the app's pushes.", example: "com.example.shop") { $0.topic },
            .word("environment", "The environment.") { $0.environment },
        ]
    )

    private static let finding = AnswerShape<CredentialFinding>(
        "CredentialFinding",
        [
            .text("text", "The finding.", example: "the certificate expires in 12 days") { $0.description },
            .flag("fatal", "Whether the credential cannot send what it is used for.") { $0.isFatal },
        ]
    )

    private static let credential = AnswerShape<CheckedCredential>(
        "Credential",
        [
            .text("credential", "The credential's id.", example: "apple") { $0.id },
            .text("kind", "The kind.", example: "apns-token") { $0.listed.stored.kind },
            .optionalText("teamId", "Apple's id of the team.", example: "ABCDE12345") { $0.listed.stored.teamID },
            .optionalText("keyId", "Apple's id of the key.", example: "ABCDE12345") { $0.listed.stored.keyID },
            .optionalText("endpoint", "Where pushes go; null: Apple.") { $0.listed.stored.endpoint },
            .list("uses", use, "The apps' topics and environments that use it.") { $0.listed.uses },
            .optionalText("refusal", "Why the push service refuses it; null: it works.") { $0.listed.stored.refusal },
            .optionalTime("refusedAt", "Since when.") { $0.listed.stored.refusedAt },
            .optionalInt("pushesPerSecond", "Its rate limit over all nodes; null: none.") {
                $0.listed.stored.pushesPerSecond.map { Int($0) }
            },
            .flag("usable", "Whether the checks found nothing that prevents pushes. Nothing is sent to check it.") {
                $0.preflight?.isUsable ?? false
            },
            .list("findings", finding, "The findings of the checks, fatal ones first.") {
                $0.preflight?.findings ?? []
            },
            .optionalTime("expiresAt", "When the certificate expires; null: a key, or unreadable.") {
                $0.preflight?.expiresAt
            },
            .optionalInt("daysToExpiry", "Whole days until then.") {
                $0.preflight?.daysToExpiry.map { Int(clamping: $0) }
            },
            .texts("topics", "The topics that it names; empty: it names none.", example: "com.example.shop") {
                $0.preflight?.topics ?? []
            },
            .word("origin", "`file`: a provisioning file changes it; `api`: calls do.") { $0.listed.stored.origin },
        ]
    )

    static let credentials = AnswerPage("credentials", credential, next: .text(example: "apple"))

    static let listCredentials = NativeOperation(
        "listCredentials",
        .get,
        "/v1/credentials",
        scope: .admin,
        "List the tenant's credentials by id, with the results of their checks and without their secrets.",
        input: PageInput(),
        answers: [.json(credentials.schema, "A page of credentials.")],
        NativeAPI.listCredentials
    )

    struct AppInput: InputFields {
        let app = CommonInputs.app
    }

    private static let binding = AnswerShape<ListedBinding>(
        "Binding",
        [
            .text("vendor", "The vendor.", example: "ipns") { $0.vendor.rawValue },
            .text("kind", "The kind of the vendor's key.", example: "account") { $0.kind },
            .text("key", "The ends of the vendor's key.", example: "8d7c…504f") { $0.key },
            .optionalText("host", "The host of the calls; null: any.") { $0.host },
            .anyObject("settings", "The settings by dotted name. Secrets are `\(SettingChanges.mask)`.") {
                $0.settings
            },
            .word("origin", "`file`: a provisioning file changes it; `api`: calls do.") { $0.origin },
        ]
    )

    static let bindings = AnswerShape<[ListedBinding]>(
        "Bindings",
        [.list("bindings", binding, "The bindings by vendor; at most \(ListedBinding.limit).") { $0 }]
    )

    static let showBindings = NativeOperation(
        "showBindings",
        .get,
        "/v1/apps/{app}/bindings",
        scope: .admin,
        "Show an app's bindings to vendors, without their secrets.",
        input: AppInput(),
        answers: [.json(bindings.schema, "The bindings.")],
        problems: [.notFound],
        NativeAPI.showBindings
    )

    private static let lane = AnswerShape<TenantQueue.LanePart>(
        "QueueLane",
        [
            .word("lane", among: Lane.allCases.map { "\($0)" }, "The lane.") { "\($0.lane)" },
            .flag("paused", "Whether the lane is paused.") { $0.isPaused },
            .int("due", "Slices that are due; a slice has about 500 targets.") { $0.due },
            .int("open", "Slices that are due, being sent or waiting.") { $0.open },
            .flag("more", "Whether there are more: at most \(TenantQueue.countLimit) are counted.") {
                $0.open >= TenantQueue.countLimit
            },
            .optionalTime("oldestDueAt", "When the first of those that are due became due; null: none is due.") {
                $0.oldestDueAt
            },
        ]
    )

    private static let held = AnswerShape<TenantQueue.Held>(
        "HeldSlices",
        [
            .text("credential", "The credential for which they wait.", example: "apple") { $0.credential.rawValue },
            .int("slices", "The slices; at most \(TenantQueue.countLimit) of all credentials are counted.") {
                $0.slices
            },
        ]
    )

    static let queue = AnswerShape<TenantQueue>(
        "Queue",
        [
            .time("at", "The time for which the answer holds.") { $0.seenAt },
            .list("lanes", lane, "The lanes in which the tenant has or had work.") { $0.lanes },
            .list("heldBy", held, "The slices that wait for a credential which the push service refuses.") { $0.held },
        ]
    )

    static let showQueue = NativeOperation(
        "showQueue",
        .get,
        "/v1/queue",
        scope: .read,
        "Show the tenant's queue by lane.",
        input: NoInput(),
        answers: [.json(queue.schema, "The queue.")],
        NativeAPI.showQueue
    )

    private static let node = AnswerShape<NodeFacts>(
        "Node",
        [
            .text("node", "The node's id.", example: "host-1-4711") { $0.id.rawValue },
            .time("startedAt", "When it was started.") { $0.startedAt },
            .time("seenAt", "Its last heartbeat, one every few seconds.") { $0.seenAt },
        ]
    )

    static let nodes = AnswerPage("nodes", node, next: .text(example: "host-1-4711"))

    static let listNodes = NativeOperation(
        "listNodes",
        .get,
        "/v1/nodes",
        scope: .admin,
        "List the nodes of the gateway by id.",
        input: PageInput(),
        answers: [.json(nodes.schema, "A page of nodes.")],
        NativeAPI.listNodes
    )
}

extension NativeAPI {
    func listCredentials(_ call: NativeCall<OperatorOperations.PageInput>) async throws(Problem) -> Response {
        let after = try call.after
        let limit = try call.limit
        let found = try await asked { () async throws(StoreError) in
            try await explainer.directory.credentials(of: call.tenant, after: after, limit: limit)
        }
        let now = clock.now()
        let checked = found.map { listed in
            let uses = listed.uses.map { CredentialUse(topic: $0.topic, environment: $0.environment) }
            let opened = try? CredentialSecret.open(listed.stored, with: stores.keyRing)
            return OperatorOperations.CheckedCredential(
                listed: listed,
                preflight: opened?.preflight(for: uses, at: now)
            )
        }
        return .json(OperatorOperations.credentials.json(checked, limit: limit) { .string($0.id) })
    }

    func showBindings(_ call: NativeCall<OperatorOperations.AppInput>) async throws(Problem) -> Response {
        let app = try call.app
        try await known(app, call.caller)
        let bindings = try await asked { () async throws(StoreError) in
            try await stores.operators.bindings(of: app, in: call.tenant)
        }
        return .json(OperatorOperations.bindings.json(bindings))
    }

    func showQueue(_ call: NativeCall<NoInput>) async throws(Problem) -> Response {
        let queue = try await asked { () async throws(StoreError) in
            try await stores.operators.queue(of: call.tenant)
        }
        return .json(OperatorOperations.queue.json(queue))
    }

    func listNodes(_ call: NativeCall<OperatorOperations.PageInput>) async throws(Problem) -> Response {
        let after = try call.after
        let limit = try call.limit
        let nodes = try await asked { () async throws(StoreError) in
            try await stores.operators.nodes(after: after, limit: limit)
        }
        return .json(OperatorOperations.nodes.json(nodes, limit: limit) { .string($0.id.rawValue) })
    }
}
