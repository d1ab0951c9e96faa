/// The uses of a push certificate according to Apple's extensions (docs/contracts/apns.md#4).
///
/// Assumed: the formats, which Apple does not document; Pushy reads the same ones. An extension in another format counts as one without topics, never as an
/// error: Apple decides what it means.
package struct PushCertificateScope: Sendable, Hashable {
    /// The environments in which a certificate can be valid.
    package enum Environment: String, Sendable, Hashable, CaseIterable {
        /// 1.2.840.113635.100.6.3.1.
        case sandbox
        /// 1.2.840.113635.100.6.3.2.
        case production
    }

    /// The environments in which it is valid; empty if the certificate does not state any.
    package let environments: Set<Environment>
    /// The topics of 1.2.840.113635.100.6.3.6, in order, each once.
    package let topics: [String]
    /// The topics of 1.2.840.113635.100.6.3.4 (VoIP), in order, each once. Old certificates have the extension without topics.
    package let voipTopics: [String]
    /// Whether it has the VoIP extension, with or without topics.
    package let isForVoIP: Bool

    /// Reads the extensions.
    ///
    /// - Parameter value: returns the DER inside an extension, by dotted OID; nil if the certificate has no such extension.
    init(extension value: (String) -> [UInt8]?) {
        var environments: Set<Environment> = []
        if value("1.2.840.113635.100.6.3.1") != nil { environments.insert(.sandbox) }
        if value("1.2.840.113635.100.6.3.2") != nil { environments.insert(.production) }
        let voip = value("1.2.840.113635.100.6.3.4")
        self.environments = environments
        topics = Self.topics(der: value("1.2.840.113635.100.6.3.6") ?? [])
        voipTopics = Self.topics(der: voip ?? [])
        isForVoIP = voip != nil
    }

    /// The topics in an extension's DER: `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind … }, … }`, or one string.
    ///
    /// If bytes are damaged, it returns the topics before the damage.
    static func topics(der: [UInt8]) -> [String] {
        guard der.count <= TLSIdentityLimits.maxExtensionBytes else { return [] }
        var reader = DERReader(der[...])
        guard let outer = reader.next() else { return [] }
        guard outer.tag == DERReader.sequence else { return topic(outer).map { [$0] } ?? [] }
        var found: [String] = []
        var inner = DERReader(outer.content)
        while let element = inner.next(), found.count < TLSIdentityLimits.maxTopics {
            if let topic = topic(element), !found.contains(topic) { found.append(topic) }
        }
        return found
    }

    private static func topic(_ element: DERReader.Element) -> String? {
        guard [DERReader.utf8String, DERReader.printableString, DERReader.ia5String].contains(element.tag),
            (1...TLSIdentityLimits.maxNameBytes).contains(element.content.count),
            // A topic becomes a header field, so it must consist of visible ASCII only.
            element.content.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: element.content, as: UTF8.self)
    }
}
