import Model
import Store

/// The rules for images of messages.
enum MediaRules {
    static func plan(_ command: MediaCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .fetch(let text, let media):
            guard let message = MessageID(text: text), Storable.isKey(media) else { return .refused(.unknownMedia) }
            return Plan(FindMedia(context.scope, message, media: media), answer: reply)
        case .image(let number, let owner):
            guard Storable.isKey(number), Storable.isKey(owner) else { return .refused(.unknownMedia) }
            return Plan(FindOwnMedia(context.scope, number: number, owner: owner), answer: reply)
        case .store(let bytes, let hash): return store(bytes, hash: hash.lowercased(), context)
        }
    }

    private static func reply(_ found: StoredMedia?) -> Reply {
        found.map { .media(.bytes($0.bytes, contentType: $0.contentType)) } ?? .refused(.unknownMedia)
    }

    private static func store(_ bytes: [UInt8], hash: String, _ context: RuleContext) -> Plan {
        guard bytes.count <= CommandLimits.imageBytes else {
            return .refused(.tooMany("bytes", limit: CommandLimits.imageBytes))
        }
        guard let kind = ImageKind(sniffing: bytes) else { return .refused(.invalid("image")) }
        guard context.identifiers.sha256(bytes) == hash else { return .refused(.invalid("hash")) }
        return Plan(PutMedia(hash: hash, contentType: kind.rawValue, bytes: bytes, at: context.now)) { _ in
            .media(.stored(hash: hash))
        }
    }
}
