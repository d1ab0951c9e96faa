import PageParts

enum RoutesText {
    static let title = Text(ko: "라우팅 규칙", en: "Routes")
    static let version = Text(ko: "버전", en: "Version")
    static let versions = Text(ko: "버전", en: "Versions")
    static let inForce = Text(ko: "적용 중", en: "In force")
    static let author = Text(ko: "수행자", en: "Author")
    static let rules = Text(ko: "규칙", en: "Rules")
    static let noRules = Text(ko: "규칙 없음", en: "No rules")
    static let callRules = Text(ko: "호출 규칙", en: "Rules for calls")
    static let deliveryRules = Text(ko: "발신 규칙", en: "Rules for deliveries")
    static let firstMatch = Text(ko: "위에서부터 처음 맞는 규칙을 적용합니다.", en: "The first rule that matches applies.")
    static let noCallRules = Text(ko: "게이트웨이가 모든 호출을 처리합니다.", en: "The gateway serves every call.")
    static let noDeliveryRules = Text(
        ko: "앱의 인증서·키로 직접 발신합니다.",
        en: "Pushes leave through the app's own credential."
    )
    static let criteria = Text(ko: "조건", en: "Matches")
    static let action = Text(ko: "처리", en: "Action")
    static let paths = Text(ko: "발신 경로", en: "Paths")
    static let everything = Text(ko: "전체", en: "Everything")
    static let place = Text(ko: "위치", en: "Part")
    static let overlay = Text(ko: "오버레이", en: "Overlay")
    static let base = Text(ko: "기본", en: "Base")
    static let originFile = Text(ko: "설정 파일", en: "Provisioning file")
    static let originAPI = Text(ko: "API·콘솔", en: "API or console")
    static let originMigration = Text(ko: "마이그레이션", en: "Migration")
    static let compare = Text(ko: "적용 중인 버전과 비교", en: "Compare with the version in force")
    static let difference = Text(ko: "차이", en: "Difference")
    static let same = Text(ko: "내용이 같습니다.", en: "The contents are equal.")
    static let rollback = Text(ko: "이 버전으로 되돌리기", en: "Return to this version")
    static let rolledBack = Text(ko: "되돌렸습니다. 1초 안에 적용됩니다.", en: "The rules were restored. They apply within a second.")
    static let edit = Text(ko: "오버레이 편집", en: "Edit the overlay")
    static let editNote = Text(
        ko: "오버레이는 설정 파일의 규칙보다 먼저 적용됩니다. JSON으로 duplicateGuard, calls, deliveries를 입력합니다.",
        en:
            "The overlay is in front of the rules of the provisioning file. JSON with duplicateGuard, calls and deliveries."
    )
    static let save = Text(ko: "오버레이 저장", en: "Save overlay")
    static let tryIt = Text(ko: "저장하지 않고 시험", en: "Try without saving")
    static let saved = Text(ko: "저장했습니다. 1초 안에 적용됩니다.", en: "The overlay is saved. It applies within a second.")
    static let notJSON = Text(ko: "JSON 객체가 아닙니다.", en: "This is not a JSON object.")
    static let tooLong = Text(ko: "너무 깁니다.", en: "This is too long.")
    static let test = Text(ko: "사용자로 시험", en: "Test a user")
    static let testNote = Text(
        ko: "아무것도 발신하거나 바꾸지 않습니다.",
        en: "Nothing is sent and nothing changes."
    )
    static let user = Text(ko: "사용자", en: "User")
    static let device = Text(ko: "단말 키", en: "Device key")
    static let kind = Text(ko: "호출 종류", en: "Kind of call")
    static let decisionCall = Text(ko: "호출", en: "The call")
    static let decisionTarget = Text(ko: "대상", en: "Target")
    static let bucket = Text(ko: "구간", en: "Bucket")
    static let rule = Text(ko: "규칙", en: "Rule")
    static let noRule = Text(ko: "맞는 규칙 없음", en: "No rule")
    static let upstream = Text(ko: "벤더", en: "Upstream")
    static let unsupported = Text(ko: "이 버전에서 아직 적용하지 않는 부분", en: "Not carried out by this version")
    static let mine = Text(ko: "입력한 내용", en: "Your text")
    static let theirs = Text(ko: "적용 중인 오버레이", en: "The overlay in force")
    static let empty = Text(ko: "아직 앱이 없습니다.", en: "There are no apps yet.")
    static let emptyStep = Text(ko: "앱을 먼저 만드세요.", en: "Create an app first.")

    static func origin(_ origin: String?) -> Text {
        switch origin {
        case "file": originFile
        case "api": originAPI
        case "migration": originMigration
        case let other?: Text(ko: other, en: other)
        case nil: Text(ko: Wording.unknown, en: Wording.unknown)
        }
    }

    static func action(_ action: String, _ upstream: String?) -> Text {
        let to = upstream.map { " → \($0)" } ?? ""
        return switch action {
        case "serve": Text(ko: "게이트웨이가 처리\(to)", en: "Serve\(to)")
        case "proxy": Text(ko: "벤더로 전달\(to)", en: "Proxy\(to)")
        case "serveAndForward": Text(ko: "처리하고 벤더에도 전달\(to)", en: "Serve and forward\(to)")
        case "followMessage": Text(ko: "메시지를 발신한 쪽에서 처리\(to)", en: "Follow the message\(to)")
        case "refuse": Text(ko: "거절", en: "Refuse")
        default: Text(ko: action + to, en: action + to)
        }
    }

    static func path(_ path: String) -> Text {
        switch path {
        case "apns": Text(ko: "APNs 직접", en: "APNs")
        case "none": Text(ko: "발신하지 않음", en: "Not sent")
        default: Text(ko: path, en: path)
        }
    }

    /// A criterion of a rule.
    static func criterion(_ name: String) -> Text {
        switch name {
        case "vendor": Text(ko: "벤더", en: "vendor")
        case "kinds": Text(ko: "종류", en: "kinds")
        case "names": Text(ko: "호출 이름", en: "names")
        case "appVersions": Text(ko: "앱 버전", en: "app versions")
        case "rollout": Text(ko: "비율", en: "rollout")
        case "audience": Text(ko: "전체 발신", en: "audience")
        case "onMiss": Text(ko: "모를 때", en: "on a miss")
        case "onOutage": Text(ko: "벤더 장애 시", en: "on an outage")
        case "platform": Text(ko: "플랫폼", en: "platform")
        case "lane": Text(ko: "우선순위", en: "lane")
        case "tags": Text(ko: "태그", en: "tags")
        case "coolDown": Text(ko: "대기", en: "cool-down")
        case "preferDialects": Text(ko: "우선 형식", en: "preferred dialects")
        default: Text(ko: name, en: name)
        }
    }

    static func kindName(_ kind: String) -> Text {
        switch kind {
        case "send": Text(ko: "발신", en: "Sends")
        case "device": Text(ko: "단말 등록", en: "Devices")
        case "user": Text(ko: "사용자", en: "Users")
        case "receipt": Text(ko: "수신 확인", en: "Receipts")
        case "message": Text(ko: "메시지", en: "Messages")
        case "read": Text(ko: "조회", en: "Reads")
        case "other": Text(ko: "기타", en: "Others")
        default: Text(ko: kind, en: kind)
        }
    }

    static let kinds = ["send", "device", "user", "receipt", "message", "read", "other"]

    // MARK: Sentences

    static func served(_ app: String) -> Text {
        Text(
            ko: "\(app) 앱에는 규칙이 없습니다. 게이트웨이가 모든 호출을 처리하고 직접 발신합니다.",
            en: "The app \(app) has no rules: the gateway serves every call and pushes directly."
        )
    }

    static func inForce(_ version: String, _ origin: String, _ actor: String, _ time: String) -> Text {
        Text(
            ko: "버전 \(version)이 적용 중입니다. \(time)에 바꿨습니다: \(actor)(\(origin)).",
            en: "Version \(version) is in force, made by \(actor) on \(time) (\(origin))."
        )
    }

    static func byMigration(_ version: String, _ time: String) -> Text {
        Text(
            ko: "마이그레이션이 규칙을 관리합니다. 버전 \(version)이 \(time)부터 적용 중입니다.",
            en: "A migration decides the rules. Version \(version) is in force since \(time)."
        )
    }

    static func someApps(_ count: String, _ total: String) -> Text {
        Text(
            ko: "앱 \(total)개 중 \(count)개에 라우팅 규칙이 있습니다.",
            en: "Apps with rules: \(count) of \(total). The gateway serves every call of the others."
        )
    }

    static let noApps = Text(
        ko: "규칙이 있는 앱이 없습니다. 게이트웨이가 모든 호출을 처리합니다.",
        en: "No app has rules: the gateway serves every call."
    )

    static func conflict(_ version: String, _ actor: String, _ time: String) -> Text {
        Text(
            ko: "편집하는 동안 규칙이 바뀌었습니다(\(time), \(actor), 버전 \(version)). 입력한 내용은 아직 저장되지 않았습니다. 두 내용을 비교한 뒤 다시 저장하세요.",
            en:
                "\(actor) changed the rules on \(time) (version \(version)). Your text is not saved yet. Compare both, then save again."
        )
    }

    static func rollbackQuestion(_ version: String) -> Text {
        Text(
            ko: "버전 \(version)의 기본 규칙과 오버레이를 새 버전으로 적용합니다. 아래 차이를 확인하세요.",
            en: "Base and overlay of version \(version) apply as a new version. Check the difference below."
        )
    }
}
