import APNs
import Adapters
import AnswerShapes
import DeliveryEngine
import EngineStore
import Explain
import GatewayHTTP
import Hummingbird
import Model
import Provisioning
import Secrets
import Store

/// `/v1/credentials`: the keys and certificates for the push service and those of upstreams, with the results of their checks and without their secrets.
enum CredentialOperations {
    static let all = [list, put, check, show, delete]

    struct PageInput: InputFields {
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    /// A credential with the result of its checks.
    struct CheckedCredential: Sendable {
        var listed: ListedCredential
        /// Nil: it cannot be opened, or is an upstream.
        var preflight: CredentialPreflight?
        /// Nil: it cannot be opened, or is not an upstream.
        var upstream: UpstreamSettings?

        var id: String { listed.stored.key.credential.rawValue }
        var isUpstream: Bool { listed.stored.upstream != nil }
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
            .optionalText("endpoint", "Where pushes go; null: Apple.") {
                $0.isUpstream ? nil : $0.listed.stored.endpoint
            },
            .optionalText("url", "The address of an upstream; null: it is not an upstream.") {
                $0.isUpstream ? $0.listed.stored.endpoint : nil
            },
            .texts(
                "secrets",
                "The names of an upstream's secrets, whose values are never returned.",
                example: "restKey"
            ) {
                ($0.upstream?.secrets.keys).map { $0.sorted() } ?? []
            },
            .list("uses", use, "The apps' topics and environments that use it.") { $0.listed.uses },
            .optionalText("refusal", "Why the push service refuses it; null: it works.") { $0.listed.stored.refusal },
            .optionalTime("refusedAt", "Since when.") { $0.listed.stored.refusedAt },
            .optionalTime("storedAt", "When its secret was stored; null: before an upgrade.") {
                $0.listed.stored.storedAt
            },
            .optionalInt("pushesPerSecond", "Its rate limit over all nodes; null: none.") {
                $0.isUpstream ? nil : $0.listed.stored.pushesPerSecond.map { Int($0) }
            },
            .optionalInt("callsPerSecond", "An upstream's rate limit over all nodes; null: none.") {
                $0.isUpstream ? $0.listed.stored.pushesPerSecond.map { Int($0) } : nil
            },
            .flag("usable", "Whether the checks found nothing that prevents pushes. Nothing is sent to check it.") {
                $0.upstream != nil || $0.preflight?.isUsable ?? false
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

    static let page = AnswerPage("credentials", credential, next: .text(example: "apple"))

    static let list = NativeOperation(
        "listCredentials",
        .get,
        "/v1/credentials",
        scope: .admin,
        "List the tenant's credentials by id, with the results of their checks and without their secrets.",
        input: PageInput(),
        answers: [.json(page.schema, "A page of credentials.")],
        NativeAPI.listCredentials
    )

    static let id = PathField.required(
        "credential",
        InputKind<String>.text(64, atLeast: 1).example("apple").map("is not a credential") { CredentialID($0) },
        "The credential's id."
    )

    private static let kinds = ["apns-token", "apns-certificate"] + VendorCatalog.product.upstreamKinds

    private static let secret = InputKind<String>.text(ObjectProvisioner.contentBytes, atLeast: 1)

    /// The members of a credential of a provisioning file, which its reader checks. A call cannot direct pushes to another server; that of an upstream is checked at
    /// every call.
    struct PutInput: InputFields {
        let credential = CredentialOperations.id
        let kind = BodyField.required("kind", InputKind<String>.word(among: CredentialOperations.kinds), "The kind.")
        let teamID = BodyField.optional(
            "teamId",
            .text(64).example("ABCDE12345"),
            "Apple's id of the team; for `apns-token`."
        )
        let keyID = BodyField.optional(
            "keyId",
            .text(64).example("ABCDE12345"),
            "Apple's id of the key; for `apns-token`."
        )
        let privateKey = BodyField.optional(
            "privateKey",
            CredentialOperations.secret.example("-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n"),
            "The key: the text of the .p8 file, or a key in PEM that belongs to `certificate`."
        )
        let certificate = BodyField.optional(
            "certificate",
            CredentialOperations.secret.example("-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n"),
            "The certificate in PEM, alone or with its key; for `apns-certificate`."
        )
        let pkcs12 = BodyField.optional(
            "pkcs12",
            CredentialOperations.secret.example("MIIK…"),
            "The .p12 file as base64, in place of `certificate`."
        )
        let passphrase = BodyField.optional("passphrase", .text(1024).example("correct horse"), "That of the key.")
        let topics = BodyField.optional(
            "topics",
            InputKind<[String]>.list(.text(1024, atLeast: 1).example("com.example.shop"), limit: 1000),
            "The topics of a topic-specific key; null or empty: all of the team."
        )
        let rate = BodyField.optional(
            "pushesPerSecond",
            .integer(1...1_000_000),
            "Its rate limit over all nodes; null: none."
        )
        let url = BodyField.optional(
            "url",
            .text(1024).example("https://push.example.com"),
            "The address of an upstream; path, but no query."
        )
        let calls = BodyField.optional(
            "callsPerSecond",
            .integer(1...1_000_000),
            "An upstream's rate limit over all nodes; null: none."
        )
        let roots = BodyField.optional(
            "trustRoots",
            CredentialOperations.secret.example("-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n"),
            "The authorities of an upstream's certificate in PEM; null: those of the system."
        )

        /// The stored properties, and the fields that the vendors' upstreams declare.
        var declared: [any DeclaredInput] { reflected + CredentialOperations.upstreamFields }
    }

    /// The fields of all vendors' upstreams. Two vendors with the same name for a field share it.
    private static let upstreamFields: [any DeclaredInput] = {
        let forms = VendorCatalog.product.adapters.compactMap { VendorCatalog.product.upstreams[$0.vendor] }
        var named: [String: any DeclaredInput] = [:]
        for (vendor, field) in forms.flatMap({ form in form.upstreamForm.fields.map { (form.vendor, $0) } })
        where named[field.name] == nil {
            named[field.name] = input(field, "For `\(UpstreamKind.kind(of: vendor))`: \(field.summary)")
        }
        return named.sorted { $0.key < $1.key }.map(\.value)
    }()

    private static func input(_ field: UpstreamForm.Field, _ summary: String) -> any DeclaredInput {
        switch field.kind {
        case .secret, .text: BodyField.optional(field.name, .text(1024), summary)
        case .flag: BodyField.optional(field.name, .flag, summary)
        }
    }

    static let put = NativeOperation(
        "putCredential",
        .put,
        "/v1/credentials/{credential}",
        scope: .admin,
        "Check and store a credential, or replace it. Its secrets are sealed and never returned.",
        input: PutInput(),
        example: [
            "kind": "apns-token", "teamId": "ABCDE12345", "keyId": "ABCDE12345",
            "privateKey": "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n",
        ],
        answers: [
            .json(201, credential.schema, "The credential was created."),
            .json(200, credential.schema, "The credential was replaced."),
        ],
        problems: [.provisioned],
        NativeAPI.putCredential
    ).audited(.act)

    /// The findings about a credential that is not stored.
    struct Preflight: Sendable {
        var uses: [CredentialAssignment]
        /// Nil: an upstream.
        var findings: CredentialPreflight?
    }

    static let preflight = AnswerShape<Preflight>(
        "CredentialPreflight",
        [
            .flag("usable", "Whether the checks found nothing that prevents pushes.") {
                $0.findings?.isUsable ?? true
            },
            .list("findings", finding, "The findings of the checks, fatal ones first.") {
                $0.findings?.findings ?? []
            },
            .list("uses", use, "The apps' topics and environments that would use it.") { $0.uses },
            .texts("topics", "The topics that it names; empty: it names none.", example: "com.example.shop") {
                $0.findings?.topics ?? []
            },
            .optionalTime("expiresAt", "When the certificate expires; null: a key.") { $0.findings?.expiresAt },
        ]
    )

    static let check = NativeOperation(
        "checkCredential",
        .post,
        "/v1/credentials/{credential}/check",
        scope: .read,
        "Check a credential for the apps that use the one of this name, without storing it.",
        input: PutInput(),
        example: [
            "kind": "apns-token", "teamId": "ABCDE12345", "keyId": "ABCDE12345",
            "privateKey": "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n",
        ],
        answers: [.json(preflight.schema, "The findings. Nothing is sent to the push service.")],
        NativeAPI.checkCredential
    )

    struct IDInput: InputFields {
        let credential = CredentialOperations.id
    }

    static let show = NativeOperation(
        "showCredential",
        .get,
        "/v1/credentials/{credential}",
        scope: .admin,
        "Show a credential with the results of its checks and without its secrets.",
        input: IDInput(),
        answers: [.json(credential.schema, "The credential.")],
        problems: [.notFound],
        NativeAPI.showCredential
    )

    static let delete = NativeOperation(
        "deleteCredential",
        .delete,
        "/v1/credentials/{credential}",
        scope: .admin,
        "Delete a credential that no app uses.",
        input: IDInput(),
        answers: [.empty("The credential is deleted.")],
        problems: [.notFound, .provisioned],
        NativeAPI.deleteCredential
    ).audited(.act)

    static func json(_ credential: CheckedCredential) -> JSON { Self.credential.json(credential) }
}

extension NativeAPI {
    func listCredentials(_ call: NativeCall<CredentialOperations.PageInput>) async throws(Problem) -> Response {
        let after = try call.after
        let limit = try call.limit
        let found = try await asked { () async throws(StoreError) in
            try await explainer.directory.credentials(of: call.tenant, after: after, limit: limit)
        }
        return .json(CredentialOperations.page.json(found.map(checked), limit: limit) { .string($0.id) })
    }

    /// The findings about a credential and its uses, as `doctor` reports them.
    private func checked(_ listed: ListedCredential) -> CredentialOperations.CheckedCredential {
        let uses = listed.uses.map { CredentialUse(topic: $0.topic, environment: $0.environment) }
        let opened =
            listed.stored.upstream == nil ? try? CredentialSecret.open(listed.stored, with: stores.keyRing) : nil
        return CredentialOperations.CheckedCredential(
            listed: listed,
            preflight: opened?.preflight(for: uses, at: clock.now()),
            upstream: try? CredentialSecret.openUpstream(listed.stored, with: stores.keyRing)
        )
    }

    private func checked(_ id: CredentialID, in tenant: TenantID) async throws(Problem) -> JSON {
        let key = CredentialKey(tenant: tenant, credential: id)
        let listed = try await asked { () async throws(StoreError) in try await explainer.directory.credential(key) }
        guard let listed else { throw .notFound("no such credential") }
        return CredentialOperations.json(checked(listed))
    }

    func showCredential(_ call: NativeCall<CredentialOperations.IDInput>) async throws(Problem) -> Response {
        .json(try await checked(try call.credential, in: call.tenant))
    }

    func putCredential(_ call: NativeCall<CredentialOperations.PutInput>) async throws(Problem) -> Response {
        let id = try call.credential
        let outcome = try await written("the credential '\(id)'") {
            try await stores.objects.put(id, call.values.body, in: call.tenant, by: call.actor)
        }
        return .json(try await checked(id, in: call.tenant), status: outcome == .created ? .created : .ok)
    }

    func checkCredential(_ call: NativeCall<CredentialOperations.PutInput>) async throws(Problem) -> Response {
        let id = try call.credential
        let key = CredentialKey(tenant: call.tenant, credential: id)
        let listed = try await asked { () async throws(StoreError) in try await explainer.directory.credential(key) }
        let assigned = listed?.uses ?? []
        let uses = assigned.map { CredentialUse(topic: $0.topic, environment: $0.environment) }
        let found: CredentialPreflight?
        do throws(ProvisioningProblem) {
            found = try stores.objects.check(id, call.values.body, for: uses, at: clock.now())
        } catch {
            throw Problem.invalid(error.path.isEmpty ? "body" : error.path, error.problem)
        }
        return .json(CredentialOperations.preflight.json(.init(uses: assigned, findings: found)))
    }

    func deleteCredential(_ call: NativeCall<CredentialOperations.IDInput>) async throws(Problem) -> Response {
        let id = try call.credential
        _ = try await written("the credential '\(id)'") {
            try await stores.objects.remove(id, in: call.tenant, by: call.actor)
        }
        return Response(status: .noContent)
    }
}
