import Model
import SignedTokens

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
        do throws(SignedToken.Fault) {
            let claims = try SignedToken.claims(
                token,
                keys: settings.publicKeys,
                algorithms: [.rs256],
                limitBytes: BrazeLimits.proofBytes,
                at: now
            )
            return claims.subject
        } catch {
            throw Fault(error)
        }
    }

    static func isKey(_ pem: String) -> Bool {
        if case .rsa = TokenKey(pem: pem) { true } else { false }
    }
}

extension SDKAuthentication.Fault {
    fileprivate init(_ fault: SignedToken.Fault) {
        self =
            switch fault {
            case .missing: .missingToken
            case .undecodable: .decodingError
            case .algorithm: .incorrectAlgorithm
            case .noKey: .publicKeyError
            case .signature: .noMatchingPublicKeys
            case .payload: .invalidPayload
            case .noExpiration: .expirationRequired
            case .expired: .expired
            }
    }
}
