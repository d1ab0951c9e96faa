import FoundationEssentials
import Model

/// The value of `ab.c`, which the SDK returns in its reports about a push (docs/contracts/braze.md#3.3).
enum PushReference {
    /// 43 characters of base64url are 32 bytes: message and target.
    private static let characters = 43

    /// The message of the first reference among the texts of `data`. References are found by their value, because the field's name is not public.
    static func message(in data: JSONObject) -> MessageID? {
        message(.object(data), depth: 0)
    }

    private static func message(_ value: JSON, depth: Int) -> MessageID? {
        switch value {
        case .string(let text): return message(text)
        case .array(let list):
            guard depth < BrazeLimits.referenceDepth else { return nil }
            for item in list { if let found = message(item, depth: depth + 1) { return found } }
        case .object(let object):
            guard depth < BrazeLimits.referenceDepth else { return nil }
            for (_, item) in object.pairs { if let found = message(item, depth: depth + 1) { return found } }
        case .null, .bool, .number: break
        }
        return nil
    }

    private static func message(_ text: String) -> MessageID? {
        guard text.utf8.count == characters else { return nil }
        let padded = text.replacing("-", with: "+").replacing("_", with: "/") + "="
        guard let data = Data(base64Encoded: padded), data.count == 32 else { return nil }
        return UUID(bytes: Array(data.prefix(16))).map { MessageID(rawValue: $0) }
    }
}
