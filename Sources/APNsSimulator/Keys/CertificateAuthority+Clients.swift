import Crypto
import Foundation
import SwiftASN1
import X509

/// The contents of a client certificate that the simulator's own CA will issue.
package struct ClientCertificateRequest: Sendable, Equatable, Decodable {
    /// The topics that it may push to; the first is the subject's UID as well.
    package var topics: [String]

    /// The environment that it names; nil for both, as in Apple's newer certificates.
    package var environment: APNsEnvironment?

    /// How many days it is valid from its creation; negative for a certificate that has expired.
    package var days: Int

    private enum Key: String, CodingKey, CaseIterable { case topics, environment, days }

    /// Creates a request for a certificate with these topics.
    package init(topics: [String], environment: APNsEnvironment? = nil, days: Int = 365) {
        self.topics = topics
        self.environment = environment
        self.days = days
    }

    package init(from decoder: any Decoder) throws {
        try refuseUnknownFields(in: decoder, known: Key.allCases.map(\.rawValue))
        let fields = try decoder.container(keyedBy: Key.self)
        func refuse(_ key: Key, _ sentence: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: fields, debugDescription: sentence)
        }
        let topics = try fields.decode([String].self, forKey: .topics)
        guard (1...100).contains(topics.count), topics.allSatisfy({ (1...255).contains($0.utf8.count) }) else {
            throw refuse(.topics, "1 to 100 topics of 1 to 255 bytes")
        }
        var environment: APNsEnvironment?
        if let name = try fields.decodeIfPresent(String.self, forKey: .environment) {
            environment = APNsEnvironment(rawValue: name)
            if environment == nil { throw refuse(.environment, "production or sandbox") }
        }
        let days = try fields.decodeIfPresent(Int.self, forKey: .days) ?? 365
        guard (-3650...3650).contains(days) else { throw refuse(.days, "-3650 to 3650") }
        self.init(topics: topics, environment: environment, days: days)
    }
}

extension CertificateAuthority {
    /// Creates a push certificate in Apple's form, signed by this CA, and its private key, both in PEM.
    ///
    /// - Throws: `SimulatorError` if it cannot be created.
    package func makeClientIdentity(
        _ request: ClientCertificateRequest
    ) throws(SimulatorError) -> (certificatePEM: String, keyPEM: String) {
        do {
            let key = P256.Signing.PrivateKey()
            let uid = request.topics.first ?? ""
            let end = Date() + Double(request.days) * 86_400
            let certificate = try Certificate(
                version: .v3,
                serialNumber: .init(),
                publicKey: .init(key.publicKey),
                notValidBefore: min(Date(), end) - 86_400,
                notValidAfter: end,
                issuer: self.certificate.subject,
                subject: DistinguishedName([
                    RelativeDistinguishedName([
                        .init(type: ClientCertificate.userID, utf8String: uid)
                    ]),
                    RelativeDistinguishedName([
                        .init(type: .RDNAttributeType.commonName, utf8String: "Apple Push Services: \(uid)")
                    ]),
                ]),
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Self.extensions(request),
                issuerPrivateKey: .init(self.key)
            )
            return (try certificate.serializeAsPEM().pemString + "\n", key.pemRepresentation + "\n")
        } catch {
            throw SimulatorError(.certificateAuthority, "Cannot make a client certificate: \(error)")
        }
    }

    private static func extensions(_ request: ClientCertificateRequest) throws -> Certificate.Extensions {
        var extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.clientAuth])
        }
        // The value of the environment extensions is an ASN.1 NULL.
        let null: ArraySlice<UInt8> = [5, 0]
        if request.environment != .production {
            try extensions.append(.init(oid: ClientCertificate.developmentID, critical: false, value: null))
        }
        if request.environment != .sandbox {
            try extensions.append(.init(oid: ClientCertificate.productionID, critical: false, value: null))
        }
        var list = DER.Serializer()
        try list.appendConstructedNode(identifier: .sequence) { topics in
            for topic in request.topics {
                try ASN1UTF8String(topic).serialize(into: &topics)
                try topics.appendConstructedNode(identifier: .sequence) { services in
                    let suffix = SimulatedPushType.suffix(of: topic)
                    try ASN1UTF8String(suffix.isEmpty ? "app" : String(suffix.dropFirst())).serialize(into: &services)
                }
            }
        }
        try extensions.append(
            .init(oid: ClientCertificate.topicsID, critical: false, value: list.serializedBytes[...])
        )
        return extensions
    }
}
