print("musterd")
