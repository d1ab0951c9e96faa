import PageParts

/// The texts of the pages of groups.
enum GroupsText {
    static let title = Text(ko: "그룹", en: "Groups")
    static let group = Text(ko: "그룹", en: "Group")
    static let members = Text(ko: "구성원", en: "Members")
    static let created = Text(ko: "생성", en: "Created")
    static let caption = Text(ko: "그룹, 이름 순", en: "Groups by name")
    static let create = Text(ko: "그룹 만들기", en: "Create group")
    static let name = Text(ko: "이름", en: "Name")
    static let didCreate = Text(ko: "그룹을 만들었습니다.", en: "The group is created.")
    static let exists = Text(ko: "이미 있는 그룹입니다.", en: "The group exists already.")
    static let empty = Text(ko: "아직 그룹이 없습니다.", en: "The app has no groups yet.")
    static let emptyStep = Text(
        ko: "아래에서 그룹을 만들고 사용자를 추가하세요. 그룹은 메시지의 수신 대상이 됩니다.",
        en: "Create a group below and add users. Messages can be sent to groups."
    )
    static let delete = Text(ko: "그룹 삭제", en: "Delete group")
    static let didDelete = Text(ko: "그룹을 삭제했습니다.", en: "The group is deleted.")
    static let user = Text(ko: "사용자", en: "User")
    static let registered = Text(ko: "등록됨", en: "Registered")
    static let unregistered = Text(ko: "등록 안 됨", en: "Not registered")
    static let add = Text(ko: "추가할 사용자", en: "Users to add")
    static let remove = Text(ko: "제거할 사용자", en: "Users to remove")
    static let change = Text(ko: "구성원 변경", en: "Change members")
    static let usersHint = Text(
        ko: "한 줄에 한 명씩, 추가와 제거를 합해 1,000명까지 입력합니다.",
        en: "One user per line; at most 1,000 added and removed together."
    )
    static let removeOne = Text(ko: "제거", en: "Remove")
    static let noMembers = Text(ko: "구성원이 없습니다.", en: "The group has no members.")
    static let noMembersStep = Text(ko: "아래에 사용자를 추가하세요.", en: "Add users below.")
    static let nobody = Text(ko: "추가하거나 제거할 사용자를 입력하세요.", en: "Enter users to add or remove.")
    static let tooMany = Text(ko: "한 번에 1,000명까지 변경할 수 있습니다.", en: "At most 1,000 users can be changed at once.")
    static let upload = Text(ko: "파일로 변경", en: "Change by a file")
    static let file = Text(ko: "CSV 파일", en: "CSV file")
    static let fileHint = Text(
        ko: "내보낸 파일과 같은 형식입니다. 사용자 열만 사용하며 1,000명까지 가능합니다.",
        en: "As exported. Only the column user is read; at most 1,000 users."
    )
    static let act = Text(ko: "파일의 사용자", en: "Users of the file")
    static let addThem = Text(ko: "추가", en: "Add them")
    static let removeThem = Text(ko: "제거", en: "Remove them")
    static let noFile = Text(ko: "파일을 선택하세요.", en: "Choose a file.")
    static let nobodyInFile = Text(ko: "파일에 사용자가 없습니다.", en: "The file has no users.")
    static let noColumn = Text(
        ko: "첫 줄에 user 열이 없습니다. 변경된 내용은 없습니다.",
        en: "The first line names no column user. Nothing was changed."
    )
    static func unreadable(_ line: Int) -> Text {
        Text(
            ko: "\(line)번째 줄을 읽을 수 없습니다. 변경된 내용은 없습니다.",
            en: "Line \(line) cannot be read. Nothing was changed."
        )
    }
    static func withoutUser(_ line: Int) -> Text {
        Text(
            ko: "\(line)번째 줄에 사용자가 없습니다. 변경된 내용은 없습니다.",
            en: "Line \(line) has no user. Nothing was changed."
        )
    }
    static let send = Text(ko: "이 그룹에 발신", en: "Send to group")

    static func count(_ count: String, _ empty: String) -> Text {
        Text(
            ko: "표시한 그룹 \(count)개 가운데 \(empty)개는 구성원이 없습니다.",
            en: "\(count, one: "group") shown, of which \(empty, one: "has", many: "have") no members."
        )
    }
    static func all(_ count: String) -> Text {
        Text(
            ko: "표시한 그룹 \(count)개 모두 구성원이 있습니다.",
            en: "\(count, one: "group shown. It has", many: "groups shown. Each has") members."
        )
    }
    static func has(_ count: String) -> Text {
        Text(ko: "구성원은 \(count)명입니다.", en: "The group has \(count, one: "member").")
    }
    static func changed(_ added: String, _ removed: String) -> Text {
        Text(ko: "\(added)명을 추가하고 \(removed)명을 제거했습니다.", en: "Added \(added), removed \(removed).")
    }
    static func deleteQuestion(_ group: String, _ count: String) -> Text {
        Text(
            ko: "그룹 ‘\(group)’(구성원 \(count)명)을 삭제합니다. 사용자는 남습니다.",
            en: "This deletes group “\(group)” with \(count, one: "member"). The users stay."
        )
    }
}
