import Crypto
import CryptoExtras
import FoundationEssentials
import Model

/// Verifies that the SDK acts for the user it names, by a JWT that the app's own back end signed (docs/contracts/braze.md#3.7).
struct SDKAuthentication {
    enum Mode: String, CaseIterable {
        case disabled
        /// A failure is reported, and the call is still processed.
        case optional
        case required
    }

    /// The reasons why verification fails, by the vendor's numbers and names.
    enum Fault: Int, Error, CaseIterable {
        case expirationRequired = 10
        case decodingError = 20
        case subjectMismatch = 21
        case expired = 22
        case invalidPayload = 23
        case incorrectAlgorithm = 24
        case publicKeyError = 25
        case missingToken = 26
        case noMatchingPublicKeys = 27
        case payloadUserIDMismatch = 28

        var reason: String {
            switch self {
            case .expirationRequired: "EXPIRATION_REQUIRED"
            case .decodingError: "DECODING_ERROR"
            case .subjectMismatch: "SUBJECT_MISMATCH"
            case .expired: "EXPIRED"
            case .invalidPayload: "INVALID_PAYLOAD"
            case .incorrectAlgorithm: "INCORRECT_ALGORITHM"
            case .publicKeyError: "PUBLIC_KEY_ERROR"
            case .missingToken: "MISSING_TOKEN"
            case .noMatchingPublicKeys: "NO_MATCHING_PUBLIC_KEYS"
            case .payloadUserIDMismatch: "PAYLOAD_USER_ID_MISMATCH"
            }
        }
    }

    /// A failed verification: the reason and the user that the call names.
    struct Failure: Hashable {
        var fault: Fault
        /// Nil for a call without a user. The device's owner is never shown to a caller that does not prove to be the owner.
        var user: UserID?

        var json: JSON {
            var json: JSONObject = ["error_code": .int(fault.rawValue), "reason": .string(fault.reason)]
            json["user_id"] = user.map { .string($0.rawValue) }
            return .object(json)
        }
    }

    /// The attribute of a device that a verified call assigned to its user. A device cannot set it itself.
    static let provenAttribute = "$provenUser"

    private let settings: SDKSettings

    init(_ settings: SDKSettings) { self.settings = settings }

    /// Nil if verification succeeds or does not apply. Users without an id are not checked.
    func failure(_ request: VendorRequest) -> Failure? {
        guard settings.authentication != .disabled, let body = try? request.brazeBody() else { return nil }
        let (user, named) = Self.users(in: body)
        guard let user else { return nil }
        do throws(Fault) {
            guard try subject(of: request) == user else { throw .subjectMismatch }
            guard named.allSatisfy({ $0 == user }) else { throw .payloadUserIDMismatch }
            return nil
        } catch {
            return Failure(fault: error, user: user)
        }
    }

    /// Why a call must not change the device with `standing`; nil if it may (docs/contracts/braze.md#3.7).
    ///
    /// Assumed: a device whose user a verified call named belongs to that user. Until then a named user is a claim, which a proof overrides.
    func failure(_ request: VendorRequest, on standing: IdentityStanding?) -> Failure? {
        guard settings.authentication == .required, let standing, let owner = standing.user,
            !SDKData.isUnnamed(owner), let body = try? request.brazeBody()
        else { return nil }
        let user = Self.users(in: body).user
        do throws(Fault) {
            let subject = try subject(of: request)
            guard subject != owner, !Self.yields(standing, to: body, settings) || user == nil else { return nil }
            throw .subjectMismatch
        } catch {
            return Failure(fault: error, user: user)
        }
    }

    /// The failure of a call whose device belongs to another user. It follows from the call alone, because the answer to a refused call is written
    /// without the store.
    func ownerFailure(_ request: VendorRequest) -> Failure {
        let user = (try? request.brazeBody()).flatMap { Self.users(in: $0).user }
        do throws(Fault) {
            _ = try subject(of: request)
            return Failure(fault: .subjectMismatch, user: user)
        } catch {
            return Failure(fault: error, user: user)
        }
    }

    /// Whether a call with a valid proof of another user may take the device over.
    private static func yields(_ standing: IdentityStanding, to body: JSONObject, _ settings: SDKSettings) -> Bool {
        guard standing.attributes[provenAttribute] == true else { return true }
        guard settings.switchesByToken, let token = standing.token else { return false }
        return SDKDevice.token(SDKData.elements(of: body)) == .set(token)
    }

    /// Assumed: the token must belong to the user for whom the call is answered, otherwise to the last user named.
    private static func users(in body: JSONObject) -> (user: UserID?, named: [UserID]) {
        let lists = (body["attributes"]?.array ?? []) + (body["events"]?.array ?? [])
        let named = lists.compactMap { $0.object.flatMap(SDKEvent.user) }
        return (body["respond_with"]?.object.flatMap(SDKEvent.user) ?? named.last, named)
    }

    /// Whether a verified call names its user.
    func isProven(_ request: VendorRequest) -> Bool {
        guard settings.authentication != .disabled, let body = try? request.brazeBody() else { return false }
        return Self.users(in: body).user != nil && failure(request) == nil
    }

    private func subject(of request: VendorRequest) throws(Fault) -> UserID {
        UserID(try subject(of: request.header("X-Braze-Auth-Signature"), at: request.receivedAt))
    }

    private func subject(of token: String?, at now: Timestamp) throws(Fault) -> String {
        guard let token, !token.isEmpty else { throw .missingToken }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= BrazeLimits.proofBytes, parts.count == 3, let head = Self.object(parts[0]),
            let signature = Self.bytes(parts[2])
        else { throw .decodingError }
        // Checked first: the algorithm that a token declares must not decide how it is verified.
        guard head["alg"] == "RS256" else { throw .incorrectAlgorithm }
        try verify(Data("\(parts[0]).\(parts[1])".utf8), signature)
        guard let claims = Self.object(parts[1]) else { throw .invalidPayload }
        guard let expiration = claims["exp"] else { throw .expirationRequired }
        guard let ends = expiration.double, let subject = claims["sub"]?.string, !subject.isEmpty else {
            throw .invalidPayload
        }
        guard ends > Double(now.milliseconds) / 1000 else { throw .expired }
        return subject
    }

    /// Any of the keys may verify, so that keys can be replaced one after the other.
    private func verify(_ text: Data, _ signature: Data) throws(Fault) {
        let keys = settings.publicKeys.compactMap { try? _RSA.Signing.PublicKey(pemRepresentation: $0) }
        guard !keys.isEmpty else { throw .publicKeyError }
        let digest = SHA256.hash(data: text)
        // RS256 is this padding (RFC 7518 §3.3), and it is only verified here.
        let isSigned = keys.contains {
            $0.isValidSignature(.init(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5)
        }
        guard isSigned else { throw .noMatchingPublicKeys }
    }

    static func isKey(_ pem: String) -> Bool { (try? _RSA.Signing.PublicKey(pemRepresentation: pem)) != nil }

    private static func object(_ part: Substring) -> JSONObject? {
        bytes(part).flatMap { try? JSONParser.parse(Array($0)).object }
    }

    private static func bytes(_ part: Substring) -> Data? {
        // The other base64 alphabet and padding are not allowed in a token (RFC 7515 §2).
        guard !part.utf8.contains(where: "+/=".utf8.contains) else { return nil }
        let padding = String(repeating: "=", count: (4 - part.utf8.count % 4) % 4)
        return Data(base64Encoded: part.replacing("-", with: "+").replacing("_", with: "/") + padding)
    }
}
