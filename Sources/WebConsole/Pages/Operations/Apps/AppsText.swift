import PageParts

enum AppsText {
    static let title = Text(ko: "앱·연동", en: "Apps and bindings")
    static let list = Text(ko: "앱", en: "Apps")
    static let platforms = Text(ko: "플랫폼", en: "Platforms")
    static let inUse = Text(ko: "사용 중", en: "In use")
    static let removed = Text(ko: "제거됨", en: "Removed")
    static let silent = Text(ko: "발신 불가", en: "Cannot send")
    static let noPlatform = Text(ko: "인증서·키 없음", en: "No credential")
    static let sandboxOnly = Text(ko: "개발용만 가능", en: "Sandbox only")
    static let facts = Text(ko: "앱 정보", en: "The app")
    static let removedAt = Text(ko: "제거", en: "Removed")
    static let key = Text(ko: "벤더 키", en: "The vendor's key")
    static let host = Text(ko: "호스트", en: "Host")
    static let anyHost = Text(ko: "모든 호스트", en: "Any")
    static let settings = Text(ko: "설정", en: "Settings")
    static let noSettings = Text(ko: "기본값을 사용합니다.", en: "All settings have their defaults.")
    static let connect = Text(ko: "연결 방법", en: "How to connect")
    static let routes = Text(ko: "라우팅 규칙", en: "Routes")
    static let parity = Text(ko: "응답 일치도", en: "Parity")
    static let log = Text(ko: "요청 로그", en: "Request log")
    static let deleteTitle = Text(ko: "앱 삭제", en: "Delete app")
    static let create = Text(ko: "앱 만들기", en: "Create app")
    static let didCreate = Text(ko: "앱을 만들었습니다.", en: "The app is created.")
    static let exists = Text(ko: "이미 있는 앱입니다.", en: "The app exists already.")
    static let name = Text(ko: "이름", en: "Name")
    static let topic = Text(ko: "토픽", en: "Topic")
    static let topicHint = Text(ko: "앱의 번들 ID입니다.", en: "The bundle ID of the app.")
    static let forProduction = Text(ko: "운영용 인증서·키", en: "Credential for production")
    static let forSandbox = Text(ko: "개발용 인증서·키", en: "Credential for sandbox")
    static let noCredential = Text(ko: "없음", en: "None")
    static let bindings = Text(ko: "벤더 연동", en: "Bindings")
    static let bindingsHint = Text(
        ko: "벤더별 설정을 담은 JSON 객체입니다. 비워 두면 자체 API만 사용합니다.",
        en: "A JSON object with the settings of each vendor. Leave it empty to use the native API alone."
    )
    static let noObject = Text(ko: "JSON 객체가 아닙니다.", en: "This is not a JSON object.")
    static let noBindings = Text(
        ko: "벤더 연동이 없습니다. 자체 API로만 발신할 수 있습니다.",
        en: "The app has no bindings. Only the native API reaches its devices."
    )

    static func deleteQuestion(_ app: String) -> Text {
        Text(
            ko: "\(app) 앱과 그 연동을 삭제합니다. 발신 내역은 남습니다. 활성 등록 정보가 있으면 삭제되지 않습니다.",
            en:
                "The app \(app) and its bindings are deleted. Its history stays. An app with active identities is not deleted."
        )
    }

    // MARK: Sentences

    static let empty = Text(ko: "아직 앱이 없습니다.", en: "There are no apps yet.")
    static let emptyStep = Text(
        ko: "아래에서 앱을 만들거나, 설정 파일에 추가하고 적용하세요.",
        en: "Create an app below, or add it to the provisioning file and apply it."
    )

    static func allSend(_ count: String) -> Text {
        Text(
            ko: "사용 중인 앱 \(count)개가 모두 발신할 수 있습니다.",
            en: "\(count, one: "app is in use and", many: "apps are in use. Each") can send."
        )
    }

    static func someSilent(_ count: String, _ total: String, _ first: String) -> Text {
        Text(
            ko: "앱 \(total)개 중 \(count)개는 인증서·키가 없어 발신할 수 없습니다: \(first).",
            en: "Without a credential, \(count) of \(total, one: "app") cannot send: \(first)."
        )
    }

    static func retired(_ app: String, _ time: String) -> Text {
        Text(ko: "\(app) 앱은 \(time)에 제거되었습니다.", en: "The app \(app) was removed on \(time).")
    }

    static func noCredential(_ app: String) -> Text {
        Text(
            ko: "\(app) 앱에는 인증서·키가 없어 단말에 직접 발신할 수 없습니다.",
            en: "The app \(app) cannot send to devices, because no platform has a credential."
        )
    }

    static func sandboxOnly(_ app: String) -> Text {
        Text(
            ko: "\(app) 앱은 개발용 토큰에만 발신할 수 있습니다. 운영용 인증서·키가 없습니다.",
            en: "The app \(app) can send to sandbox tokens only. It has no credential for production."
        )
    }

    static func ready(_ app: String, _ bindings: Int) -> Text {
        Text(
            ko: "\(app) 앱은 발신할 수 있습니다. 벤더 연동은 \(bindings)개입니다.",
            en: "The app \(app) can send and has \(bindings, one: "binding")."
        )
    }

    static func openSends(_ vendor: String) -> Text {
        Text(
            ko: "\(vendor) 발신 요청이 누구에게나 열려 있습니다(openSends). 발신자 네트워크나 API 키를 정한 뒤 끄세요.",
            en: "Anyone can send through \(vendor) (openSends). Name the senders' networks or keys, then switch it off."
        )
    }
}
