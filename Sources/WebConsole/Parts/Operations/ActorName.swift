/// The words for the account, key or command that has made a change.
package enum ActorName {
    package static func of(_ actor: String) -> Text {
        let parts = actor.split(separator: ":", maxSplits: 1)
        guard let name = parts.dropFirst().first.map(String.init) else {
            switch actor {
            case "provisioning": return OperationsText.file
            case "gateway": return Text(ko: "게이트웨이", en: "Gateway")
            default: return Text(ko: actor, en: actor)
            }
        }
        return switch parts[0] {
        case "account": Text(ko: "\(name) (계정)", en: "\(name) (account)")
        case "key": Text(ko: "\(name) (API 키)", en: "\(name) (API key)")
        case "cli": Text(ko: "\(name) (명령줄)", en: "\(name) (command line)")
        default: Text(ko: actor, en: actor)
        }
    }
}
