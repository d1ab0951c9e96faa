import Foundation
import SwiftASN1
import X509

/// A client's push certificate, reduced to the values that the rules need.
///
/// The object identifiers are Apple's: 1.2.840.113635.100.6.3.1 development, .2 production (observed), .4 VoIP, .6 list of topics (documented).
package struct ClientCertificate: Sendable, Equatable {
    /// The subject's UID: the bundle identifier, or the topic of an MDM certificate.
    package var uid: String?

    /// The topics that it may push to: its list of topics, otherwise its UID.
    package var topics: [String]

    /// The environments that it names; empty for a certificate that names none and is valid in both.
    package var environments: Set<APNsEnvironment>

    /// The end of its validity. Unit: seconds since 1970.
    package var expiresAt: Int

    /// Whether it was signed by a CA that the simulator trusts.
    package var isBelieved: Bool

    /// Creates a certificate with these properties.
    package init(
        uid: String?,
        topics: [String],
        environments: Set<APNsEnvironment> = [],
        expiresAt: Int = .max,
        isBelieved: Bool = true
    ) {
        self.uid = uid
        self.topics = topics
        self.environments = environments
        self.expiresAt = expiresAt
        self.isBelieved = isBelieved
    }

    /// Reads a certificate; nil if the bytes are not a certificate.
    ///
    /// - Parameters:
    ///   - der: The certificate.
    ///   - issuers: The CAs to trust; nil trusts every certificate.
    init?(der: [UInt8], issuers: [Certificate]?) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        let uid = Self.uid(of: certificate.subject)
        var environments: Set<APNsEnvironment> = []
        if certificate.extensions[oid: Self.developmentID] != nil { environments.insert(.sandbox) }
        if certificate.extensions[oid: Self.productionID] != nil { environments.insert(.production) }
        let isBelieved = issuers?.contains {
            $0.subject == certificate.issuer
                && $0.publicKey.isValidSignature(certificate.signature, for: certificate)
        }
        self.init(
            uid: uid,
            topics: Self.topics(of: certificate, uid: uid),
            environments: environments,
            expiresAt: Int(certificate.notValidAfter.timeIntervalSince1970),
            isBelieved: isBelieved ?? true
        )
    }

    /// Whether it may be used in this environment.
    func fits(_ environment: APNsEnvironment) -> Bool {
        environments.isEmpty || environments.contains(environment)
    }

    static let developmentID: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 1]
    static let productionID: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 2]
    static let voipID: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 4]
    static let topicsID: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
    static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    private static func uid(of subject: DistinguishedName) -> String? {
        for part in subject {
            for attribute in part where attribute.type == userID { return String(attribute.value) }
        }
        return nil
    }

    private static func topics(of certificate: Certificate, uid: String?) -> [String] {
        if let list = certificate.extensions[oid: topicsID], let node = try? DER.parse(list.value) {
            let named = strings(in: node)
            if !named.isEmpty { return named }
        }
        guard let uid else { return [] }
        return certificate.extensions[oid: voipID] == nil ? [uid] : [uid + SimulatedPushType.voip.topicSuffix]
    }

    /// A sequence of topics, each followed by a sequence of service names, which are not used.
    private static func strings(in node: ASN1Node) -> [String] {
        guard case .constructed(let children) = node.content else { return [] }
        return children.compactMap { child in
            guard let text = try? ASN1UTF8String(derEncoded: child) else { return nil }
            return String(text)
        }
    }
}
