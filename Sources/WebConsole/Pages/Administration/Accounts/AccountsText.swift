import PageParts

/// The words of the page of accounts.
enum AccountsText {
    static let title = Text(ko: "계정", en: "Accounts")
    static let name = Text(ko: "계정 이름", en: "Account name")
    static let nameHint = Text(ko: "영문자, 숫자와 . - _ @ (64자 이하)", en: "Letters, digits and . - _ @; at most 64")
    static let role = Text(ko: "역할", en: "Role")
    static let codes = Text(ko: "일회용 코드", en: "One-time codes")
    static let used = Text(ko: "마지막 사용", en: "Last used")
    static let created = Text(ko: "생성", en: "Created")
    static let state = Text(ko: "상태", en: "State")
    static let active = Text(ko: "사용 가능", en: "Active")
    static let disabled = Text(ko: "사용 중지됨", en: "Disabled")
    static let on = Text(ko: "사용", en: "On")
    static let off = Text(ko: "사용 안 함", en: "Off")
    static let this = Text(ko: "내 계정", en: "Your account")
    static let invite = Text(ko: "초대", en: "Invite a person")
    static let inviteButton = Text(ko: "초대 링크 만들기", en: "Create an invitation")
    static let inviteNote = Text(
        ko: "링크는 15분 동안 한 번만 사용할 수 있습니다. 이미 있는 계정에는 역할만 추가됩니다.",
        en: "The link works once, for 15 minutes. An account that exists gets the role without a link."
    )
    static let link = Text(ko: "초대 링크", en: "Invitation")
    static let change = Text(ko: "역할 변경", en: "Change a role")
    static let changeButton = Text(ko: "역할 저장", en: "Save the role")
    static let changeNote = Text(
        ko: "역할이 바뀌면 그 계정의 세션이 끝납니다.",
        en: "The sessions of the account end when its role changes."
    )
    static let none = Text(ko: "역할 없음", en: "No role")
    static let changed = Text(ko: "역할을 변경했습니다.", en: "The role is changed.")
    static let changedMeanwhile = Text(
        ko: "이 페이지를 연 뒤 다른 사람이 계정이나 역할을 변경했습니다. 요청은 처리되지 않았습니다. 목록의 현재 역할을 확인한 뒤 다시 저장하세요.",
        en:
            "Another person changed the accounts or their roles after you opened the page. Your request was not carried out. Look at the present roles in the list, then save again."
    )
    static let roleGiven = Text(ko: "이미 있는 계정에 역할을 추가했습니다.", en: "The account exists already and has got the role.")
    static let required = Text(ko: "계정 이름을 입력하세요.", en: "Enter the name of an account.")
    static let onlyOne = Text(
        ko: "소유자가 한 명뿐입니다. 소유자를 한 명 더 초대하세요.",
        en: "The tenant has one owner only. Invite a second one."
    )

    static func count(_ accounts: Int, _ owners: Int) -> Text {
        Text(
            ko: "계정 \(accounts)개가 이 테넌트를 사용할 수 있으며, 소유자는 \(owners)명입니다.",
            en:
                "\(accounts, one: "account") may use this tenant; \(owners, one: "of them is an owner", many: "of them are owners")."
        )
    }

    static func role(_ text: String?) -> Text {
        text.flatMap { Role(rawValue: $0) }.map { CommonText.role($0) } ?? Text(ko: text ?? "–", en: text ?? "–")
    }
}
