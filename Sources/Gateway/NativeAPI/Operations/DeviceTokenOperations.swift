import Adapters
import AnswerShapes
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Secrets

/// `/v1/apps/{app}/sas`: tokens with which a vendor's devices act for themselves, for an app's back end to pass on.
enum DeviceTokenOperations {
    static let all = [issue]

    /// A day: a stolen token ends by itself.
    static let lifetimeSeconds = 60...86_400

    private static let vendors = VendorCatalog.product.vendors { VendorCatalog.product.issuing[$0] != nil }

    struct IssueInput: InputFields {
        let app = CommonInputs.app
        let installation = BodyField.required(
            "installation",
            .text(120, atLeast: 1).example("5d9c7b3e-7c41-4c39-9c51-6b1d2a9f0e77"),
            "The id of the installation. The token is valid for it alone."
        )
        let user = BodyField.optional(
            "user",
            .text(120, atLeast: 1).example("u-1"),
            "The only `userId` that the installation may name; null: any."
        )
        let host = BodyField.optional(
            "host",
            .text(255, atLeast: 1).example("push.example.com"),
            "The host to which devices address their calls; null: the host of this call."
        )
        let seconds = BodyField.optional(
            "seconds",
            .integer(DeviceTokenOperations.lifetimeSeconds),
            default: 3600,
            as: 3600,
            "The token expires after this number of seconds."
        )
        let vendor = BodyField.optional(
            "vendor",
            .vendor(among: DeviceTokenOperations.vendors),
            "The vendor of the installation; null: the app's only vendor that has such tokens."
        )
    }

    struct Issued: Sendable {
        var token: String
        var grant: DeviceGrant
    }

    static let issued = AnswerShape<Issued>(
        "SharedAccessSignature",
        [
            .text("sas", "The text of the header `Authorization`.", example: "SharedAccessSignature sr=…") { $0.token },
            .text("installation", "The id of the installation.", example: "5d9c7b3e-7c41-4c39-9c51-6b1d2a9f0e77") {
                $0.grant.device
            },
            .time("expiresAt", "When it expires.") { $0.grant.expiresAt },
        ]
    )

    static let issue = NativeOperation(
        "issueSharedAccessSignature",
        .post,
        "/v1/apps/{app}/sas",
        scope: .devices,
        "Issue a token that authorizes one installation to set its user, tags and token.",
        input: IssueInput(),
        example: ["installation": "5d9c7b3e-7c41-4c39-9c51-6b1d2a9f0e77", "user": "u-1", "seconds": 3600],
        answers: [.json(201, issued.schema, "The token.")],
        problems: [.notFound],
        NativeAPI.issueSharedAccessSignature
    )
}

extension NativeAPI {
    func issueSharedAccessSignature(_ call: NativeCall<DeviceTokenOperations.IssueInput>) async throws(Problem)
        -> Response
    {
        let app = try call.app
        let wanted = try call.vendor
        let bound = try await asked { () async throws(StoreError) in
            try await previews.directory.settings(of: app, in: call.tenant)
        }
        let found = previews.vendors.issuing.filter { bound[$0.key] != nil && $0.key == wanted ?? $0.key }
        guard let (vendor, issuer) = found.first, found.count == 1, let sealed = bound[vendor] else {
            throw .notFound("the app has no binding of a vendor with such tokens")
        }
        let grant = DeviceGrant(
            device: try call.installation,
            user: try call.user,
            host: try call.host ?? call.caller.request.head.authority ?? "",
            expiresAt: Timestamp(seconds: clock.now().seconds + Int64(try call.seconds))
        )
        do throws(AdapterError) {
            let token = try issuer.deviceToken(
                for: grant,
                settings: stores.bindingSecrets.opened(sealed, vendor: vendor)
            )
            let answer = DeviceTokenOperations.Issued(token: token, grant: grant)
            return .json(DeviceTokenOperations.issued.json(answer), status: .created)
        } catch {
            guard error.code == .notFound else {
                let field = error.field == "device" ? "installation" : error.field ?? "installation"
                throw .invalid(field, "cannot be used")
            }
            throw .notFound("the binding has no key with the right manage; apply its provisioning file again")
        }
    }
}
