import Crypto
import GatewayHTTP
import HTTPTypes
import Model

/// Decides whether a call of kind `CallerKind.sender` may proceed. The rule is the same for all vendors (docs/security.md):
///
/// 1. an API key of the tenant with the scope `send` (for every audience of the binding's app) or `admin`, shown from one of the key's networks;
/// 2. the dialect's own key of the binding, where the dialect has one;
/// 3. a source network of the setting `senderNetworks`;
/// 4. a client certificate that the setting `senderCertificates` names;
/// 5. the setting `openSends`, which proves nothing about the caller and has no effect if the binding has the dialect's own key.
///
/// Pure, except that API keys are looked up by `lookUp`.
struct SenderGate: Sendable {
    /// 256 bytes per key shown. A longer text is not a key, and is not hashed.
    static let keyBytes = 256

    enum Verdict: Sendable, Hashable {
        /// The gate does not judge the call: the adapter checks the caller, or the call has no binding.
        case unasked
        /// The caller has proved with an API key that it belongs to the tenant.
        case key(APIKeyGrant)
        /// Proved with the dialect's own key.
        case ownKey
        /// Proved by a source network or a client certificate, whatever key the call shows.
        case place
        /// Admitted by `openSends` alone.
        case open
        /// The reason is for the log; it names the settings.
        case refused(String)

        /// The API key of a proven caller; nil: it showed none.
        var provingKey: APIKeyGrant? {
            if case .key(let key) = self { key } else { nil }
        }

        /// Whether the caller has proved that it is a sender.
        var isProven: Bool {
            switch self {
            case .key, .ownKey, .place: true
            case .unasked, .open, .refused: false
            }
        }

        /// Whether a credential that the call shows was verified: by the gate, or by the adapter where the gate is not asked.
        var isByCredential: Bool {
            switch self {
            case .key, .ownKey, .unasked: true
            case .place, .open, .refused: false
            }
        }
    }

    let settings: SenderSettings
    /// The app of the binding.
    let app: AppID
    /// The dialect's own key of the binding. Nil: there is none.
    let ownKey: [UInt8]?
    let evidence: SenderEvidence

    init(_ call: VendorRequest, _ form: SenderForm?, _ binding: BoundCall) {
        settings = binding.senders
        app = binding.app
        ownKey = form?.ownKey.flatMap { binding.settings.secrets[$0.secret] }
        evidence = SenderEvidence(call, form)
    }

    /// The verdict on the call.
    ///
    /// - Parameters:
    ///   - tenant: the tenant of the binding.
    ///   - lookUp: finds an API key.
    /// - Returns: whether the caller may send, and why not.
    /// - Throws: `StoreError` when the store cannot answer now.
    func judge(
        in tenant: TenantID,
        _ lookUp: (String) async throws(StoreError) -> APIKeyGrant?
    ) async throws(StoreError) -> Verdict {
        for key in evidence.keys {
            if let grant = try await lookUp(key), permits(grant, tenant) { return .key(grant) }
        }
        if showsOwnKey { return .ownKey }
        if comesFromANetwork || showsACertificate { return .place }
        return settings.isOpen && ownKey == nil ? .open : .refused(reason)
    }

    /// The audience is not known before the call is decoded, so a key that is limited to one kind of audience proves nothing.
    private func permits(_ grant: APIKeyGrant, _ tenant: TenantID) -> Bool {
        grant.tenant == tenant && grant.scopes.maySend(to: nil, of: app) && grant.isUsable(from: evidence.address)
    }

    /// Digests are compared, so that the time does not reveal how much of the key is right.
    private var showsOwnKey: Bool {
        guard let ownKey, let shown = evidence.ownKey else { return false }
        return SHA256.hash(data: Array(shown.utf8)) == SHA256.hash(data: ownKey)
    }

    private var comesFromANetwork: Bool {
        guard let address = evidence.address, !evidence.isFromAPage else { return false }
        return settings.networks.contains { $0.contains(address) }
    }

    private var showsACertificate: Bool {
        guard let certificate = evidence.certificate, !evidence.isFromAPage else { return false }
        return settings.certificates.contains(where: certificate.matches)
    }

    private var reason: String {
        var parts = [evidence.keys.isEmpty ? "the call has no key" : "no key of the call may send"]
        if evidence.isFromAPage, !(settings.networks.isEmpty && settings.certificates.isEmpty) {
            parts.append(
                "a call that a web page can make is not accepted by \(SenderSettings.networksKey) and "
                    + SenderSettings.certificatesKey
            )
        } else {
            parts.append("\(SenderSettings.networksKey) does not contain its address")
            if !settings.certificates.isEmpty {
                parts.append("\(SenderSettings.certificatesKey) does not name a certificate of its connection")
            }
        }
        parts.append(
            ownKey == nil
                ? "\(SenderSettings.openKey) is not set"
                : "\(SenderSettings.openKey) has no effect on a binding with a key of its own"
        )
        return "unauthorized: " + parts.joined(separator: ", ")
    }
}

/// The facts of a call that show who its sender is.
struct SenderEvidence: Sendable, Hashable {
    /// All keys of the call that may be API keys, without repeats: from `Authorization: Bearer`, `X-API-Key` and the dialect's own header.
    var keys: [String] = []
    /// The key in the dialect's own header.
    var ownKey: String?
    /// Nil: unknown.
    var address: IPAddress?
    /// Nil: the client showed none.
    var certificate: PeerCertificate?
    /// Whether the page of any site could make a browser send this call: it has an `Origin`, or it is not a POST. The browser of an employee has an
    /// address in the operator's network, and may have a certificate, which prove nothing about such a page.
    var isFromAPage: Bool

    private static let keyHeader = HTTPField.Name("X-API-Key")
    private static let originHeader = HTTPField.Name("Origin")

    init(_ call: VendorRequest, _ form: SenderForm?) {
        func shown(_ name: HTTPField.Name?) -> String? {
            guard let name, let text = call.headers[name], (1...SenderGate.keyBytes).contains(text.utf8.count) else {
                return nil
            }
            return text
        }
        address = call.provenAddress
        certificate = call.certificate
        isFromAPage = call.method != .post || Self.originHeader.map { call.headers.contains($0) } ?? false
        ownKey = form?.ownKey.flatMap { shown(HTTPField.Name($0.header)) }
        let bearer = shown(.authorization).flatMap(Self.bearer)
        for key in [bearer, shown(Self.keyHeader), ownKey].compactMap(\.self) where !keys.contains(key) {
            keys.append(key)
        }
    }

    /// The token of `Authorization: Bearer`; nil for another scheme.
    private static func bearer(_ header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }
}
