`keys.age.days` refuses secrets of API keys that are older than this many days; `doctor --security` names them two weeks before.
