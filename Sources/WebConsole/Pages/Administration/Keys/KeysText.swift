import PageParts

enum KeysText {
    static let title = Text(ko: "API 키", en: "API keys")
    static let key = Text(ko: "API 키", en: "API key")
    static let scopes = Text(ko: "권한", en: "Scopes")
    static let networks = Text(ko: "네트워크", en: "Networks")
    static let everywhere = Text(ko: "모든 네트워크", en: "Everywhere")
    static let lastUsed = Text(ko: "마지막 사용", en: "Last used")
    static let neverUsed = Text(ko: "사용한 적 없음", en: "Never used")
    static let expires = Text(ko: "만료", en: "Expires")
    static let noEnd = Text(ko: "만료 없음", en: "Does not expire")
    static let recipients = Text(ko: "하루 수신자 한도", en: "Recipients per day")
    static let recipientsToday = Text(ko: "오늘 수신자", en: "Recipients today")
    static let noLimit = Text(ko: "한도 없음", en: "No limit")
    static let otherUntil = Text(ko: "이전 비밀 값 만료", en: "Earlier secret ends")
    static let valid = Text(ko: "유효", en: "Valid")
    static let ended = Text(ko: "만료됨", en: "Expired")
    static let endsSoon = Text(ko: "곧 만료", en: "Expires soon")
    static let rotating = Text(ko: "교체 중", en: "Being replaced")
    static let facts = Text(ko: "키 정보", en: "The key")
    static let create = Text(ko: "API 키 만들기", en: "Create an API key")
    static let createSubmit = Text(ko: "키 만들기", en: "Create key")
    static let name = Text(ko: "이름", en: "Name")
    static let nameHint = Text(ko: "영문자, 숫자, . _ - 로 최대 64자입니다.", en: "Letters, digits, . _ and -; at most 64.")
    static let send = Text(ko: "발신 (send)", en: "Send (send)")
    static let devices = Text(ko: "단말·사용자 관리 (devices)", en: "Manage devices and users (devices)")
    static let read = Text(ko: "조회 (read)", en: "Read (read)")
    static let content = Text(ko: "메시지 내용 조회 (content)", en: "Read contents of messages (content)")
    static let admin = Text(ko: "관리 (admin, 다른 권한 포함)", en: "Administer (admin; includes the others)")
    static let onlyApp = Text(ko: "앱 제한", en: "Only for the app")
    static let anyApp = Text(ko: "모든 앱", en: "All apps")
    static let networksHint = Text(
        ko: "10.20.0.0/16 형식으로 쉼표로 구분합니다. 비우면 어디서나 사용할 수 있습니다.",
        en: "Such as 10.20.0.0/16, separated by commas. Empty: everywhere."
    )
    static let noScope = Text(ko: "권한을 하나 이상 선택하세요.", en: "Choose at least one scope.")
    static let badTime = Text(ko: "날짜와 시각을 확인하세요.", en: "This is not a date and time.")
    static let newSecret = Text(
        ko: "새 API 키입니다. 지금만 표시되므로 안전한 곳에 보관하세요.",
        en: "This is the new API key. It is shown only now: store it in a safe place."
    )
    static let rotate = Text(ko: "비밀 값 교체", en: "Replace the secret")
    static let rotateNote = Text(
        ko: "새 비밀 값은 한 번만 표시됩니다. 그보다 이전의 비밀 값은 즉시 만료됩니다.",
        en: "The new secret is shown once. A secret before the present one ends at once."
    )
    static func replacedMeanwhile(_ end: String) -> Text {
        Text(
            ko: "이 페이지를 연 뒤 다른 사람이 비밀 값을 교체했습니다. 요청은 처리되지 않았습니다. 다시 교체하면 \(end)까지 유효한 이전 비밀 값이 즉시 만료됩니다.",
            en:
                "Another person replaced the secret after you opened the page. Your request was not carried out. Replacing it again ends the earlier secret, valid until \(end), at once."
        )
    }
    static let delete = Text(ko: "키 폐기", en: "Revoke key")
    static let empty = Text(ko: "아직 API 키가 없습니다.", en: "There are no API keys yet.")
    static let emptyStep = Text(
        ko: "아래 양식에서 키를 만들어 백엔드에 설정하세요.",
        en: "Create a key in the form below, and give it to a back end."
    )

    static func deleteQuestion(_ name: String, _ use: String) -> Text {
        Text(
            ko: "\(name) 키를 폐기합니다. 이 키를 사용하는 다음 호출부터 거절됩니다. 마지막 사용: \(use).",
            en: "The key \(name) is revoked: the next call with it is refused. Last used: \(use)."
        )
    }

    // MARK: Sentences

    static func ended(_ name: String, _ time: String) -> Text {
        Text(
            ko: "\(name) 키는 \(time)에 만료되어 호출이 거절됩니다.",
            en: "The key \(name) expired on \(time); calls with it are refused."
        )
    }

    static func ends(_ name: String, _ time: String) -> Text {
        Text(
            ko: "\(name) 키가 \(time)에 만료됩니다. 그 전에 새 키를 만들어 교체하세요.",
            en: "The key \(name) expires on \(time). Create another key for its callers before that."
        )
    }

    static func open(_ name: String) -> Text {
        Text(
            ko: "\(name) 키는 관리 권한이 있는데 모든 네트워크에서 사용할 수 있습니다.",
            en: "The key \(name) administers the tenant and may be used from every network."
        )
    }

    static func idle(_ name: String, _ time: String) -> Text {
        Text(
            ko: "\(name) 키를 90일 넘게 사용하지 않았습니다(\(time)). 필요 없으면 폐기하세요.",
            en: "The key \(name) has not been used for 90 days (\(time)). Revoke it if it is not needed."
        )
    }

    static func allFine(_ count: String) -> Text {
        Text(
            ko: "API 키 \(count)개가 모두 유효합니다.",
            en: count == "1" ? "The API key is valid." : "All \(count) API keys are valid."
        )
    }

    static func fine(_ name: String, _ used: String) -> Text {
        Text(ko: "\(name) 키는 유효합니다. 마지막 사용: \(used).", en: "The key \(name) is valid. Last used: \(used).")
    }
}
